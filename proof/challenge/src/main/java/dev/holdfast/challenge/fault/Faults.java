package dev.holdfast.challenge.fault;

import java.util.List;

/** All faults. A new one is an entry here. */
public final class Faults {
    /** Nothing is done, which takes the least time. */
    public static final Fault STEADY = new Steady();

    /**
     * Faults that belong together for a reader.
     *
     * @param title what they have in common
     */
    public record Group(String title, List<Fault> faults) {}

    /** All there are, in groups. */
    public static final List<Group> GROUPS = List.of(
            new Group(
                    "workers race; are stopped, killed, interrupted",
                    List.of(STEADY, new PauseHolder(), new KillHolder(), new KillWaiter(), new InterruptWaiter())),
            new Group(
                    "replies lost; connections reset, cut off",
                    List.of(
                            new LostReply(LostReply.Request.CLAIM),
                            new LostReply(LostReply.Request.RENEW),
                            new LostReply(LostReply.Request.RELEASE),
                            new Reset(true),
                            new Reset(false),
                            new KillConnections(),
                            new Partition())),
            new Group(
                    "clocks wrong; server killed, failed over",
                    List.of(
                            new ClientClock(),
                            new StoreClock(),
                            new KillServer(),
                            new Failover(true),
                            new Failover(false))));

    /** All there are. */
    public static final List<Fault> ALL =
            GROUPS.stream().flatMap(group -> group.faults().stream()).toList();

    private Faults() {}
}
