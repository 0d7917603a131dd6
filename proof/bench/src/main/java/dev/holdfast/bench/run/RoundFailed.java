package dev.holdfast.bench.run;

import dev.holdfast.testbed.ChildProcess;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A round that cannot be used: a worker failed, died or hung. */
public final class RoundFailed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private static final int LINES = 12;

    private final String reason;
    private final String detail;

    RoundFailed(String reason, List<ChildProcess> workers, @Nullable Throwable cause) {
        this(reason, lastWords(workers), cause);
    }

    private RoundFailed(String reason, String detail, @Nullable Throwable cause) {
        super(reason + "\n" + detail, cause);
        this.reason = reason;
        this.detail = detail;
    }

    /** The same, with the peer named. */
    RoundFailed of(String peer) {
        return new RoundFailed(peer + ": " + reason, detail, getCause());
    }

    /** What happened, in one line. */
    public String reason() {
        return reason;
    }

    /** The last lines that the workers wrote to standard error. */
    public String detail() {
        return detail;
    }

    private static String lastWords(List<ChildProcess> workers) {
        return workers.stream()
                .flatMap(worker -> last(worker.stderr().lines()).stream())
                .collect(Collectors.joining("\n"));
    }

    private static List<String> last(List<String> lines) {
        return lines.subList(Math.max(0, lines.size() - LINES), lines.size());
    }
}
