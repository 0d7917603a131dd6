package dev.holdfast.challenge.workload;

import java.util.List;

/** All workloads. A new one is an entry here. */
public final class Workloads {
    /** All there are. */
    public static final List<Workload> ALL = List.of(
            new PlainRegister(),
            new FencedRegister(),
            new SomePermits(),
            new ReadersAndWriters(),
            new TermOfLeadership(),
            new JobOfPeriod());

    private Workloads() {}

    /** The one with that word. */
    public static Workload of(String id) {
        return ALL.stream()
                .filter(workload -> workload.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no workload '" + id + "'"));
    }
}
