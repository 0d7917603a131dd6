package dev.holdfast.bench.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

/** The processor time of a server that is many processes, those that have ended among them. */
final class ProcessTree {
    private static final long MILLIS_PER_TICK = 10;
    /** Where in the line, after the name of the program, the ticks of the ended children stand: user and system. */
    private static final int CHILDREN_USER = 13;

    private ProcessTree() {}

    static Duration cpuTime(long pid) {
        return ProcessHandle.of(pid).stream()
                .flatMap(main -> Stream.concat(Stream.of(main), main.descendants()))
                .map(process -> process.info().totalCpuDuration().orElse(Duration.ZERO))
                .reduce(ofEndedChildren(pid), Duration::plus);
    }

    /** Linux adds up what children used when their end is seen; elsewhere it is not known, and 0. */
    private static Duration ofEndedChildren(long pid) {
        try {
            String line = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
            String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ");
            long ticks = Long.parseLong(fields[CHILDREN_USER]) + Long.parseLong(fields[CHILDREN_USER + 1]);
            return Duration.ofMillis(ticks * MILLIS_PER_TICK);
        } catch (IOException e) {
            return Duration.ZERO;
        }
    }
}
