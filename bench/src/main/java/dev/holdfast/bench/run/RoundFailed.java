package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.testbed.ChildProcess;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/** A round that cannot be used: a worker failed, died or hung. */
public final class RoundFailed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private static final Duration DEATH = Duration.ofSeconds(5);
    private static final int LINES = 12;

    private final String reason;
    private final String detail;

    private RoundFailed(String reason, String detail, Throwable cause) {
        super(reason + "\n" + detail, cause);
        this.reason = reason;
        this.detail = detail;
    }

    /** What happened, in one line. */
    public String reason() {
        return reason;
    }

    /** The last lines that the workers wrote to standard error. */
    public String detail() {
        return detail;
    }

    static RoundFailed of(PeerKind peer, List<ChildProcess> workers, AssertionError error) {
        List<ChildProcess> dead =
                workers.stream().filter(worker -> !worker.isAlive()).toList();
        String what = dead.isEmpty() || error instanceof Fleet.WorkerFailed
                ? firstLine(error)
                : dead.stream()
                        .map(worker -> "worker process " + worker.pid() + " ended with " + worker.waitFor(DEATH))
                        .collect(Collectors.joining(", "));
        String said = workers.stream()
                .flatMap(worker -> last(worker.stderr().lines()).stream())
                .collect(Collectors.joining("\n"));
        return new RoundFailed(peer.id() + ": " + what, said, error);
    }

    private static String firstLine(AssertionError error) {
        return String.valueOf(error.getMessage()).lines().findFirst().orElse("");
    }

    private static List<String> last(List<String> lines) {
        return lines.subList(Math.max(0, lines.size() - LINES), lines.size());
    }
}
