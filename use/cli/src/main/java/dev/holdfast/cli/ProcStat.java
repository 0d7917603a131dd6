package dev.holdfast.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The state of a process as the kernel reports it; on Linux in {@code /proc/PID/stat}.
 *
 * @param state one letter: R runs, S sleeps, T is stopped, Z has ended and is not collected yet
 * @param group its process group
 * @param foreground the process group in the foreground of its terminal; -1 without a terminal
 */
record ProcStat(char state, long group, long foreground) {
    private static final char ZOMBIE = 'Z';
    // Counted after "pid (name)": the name may itself hold blanks and brackets.
    private static final int STATE = 0;
    private static final int GROUP = 2;
    private static final int FOREGROUND = 5;

    /** Before a hexadecimal number with a bit for each signal. */
    private static final String HANDLED_SIGNALS = "SigCgt:";

    private static final long INTERRUPT_BIT = 1 << 1;

    /** Whether this process is in the foreground of a terminal, which then sends Ctrl-C to our child as to us. */
    static boolean isInForeground() {
        return ofSelf().map(stat -> stat.group == stat.foreground).orElse(false);
    }

    /** Whether this process has a terminal that could send it a signal. */
    static boolean hasTerminal() {
        return ofSelf().map(stat -> stat.foreground > 0).orElse(false);
    }

    /** Whether a process belongs to the process group of this one: what a terminal sends reaches both. */
    static boolean isInOurGroup(long pid) {
        Optional<Long> group = of(Long.toString(pid)).or(() -> byPs(pid)).map(ProcStat::group);
        return group.isPresent() && group.equals(ofSelf().map(ProcStat::group));
    }

    private static Optional<ProcStat> ofSelf() {
        return of("self").or(() -> byPs(ProcessHandle.current().pid()));
    }

    /** Whether a process runs nothing any more, also when its parent, or a lazy init, has not collected it yet. */
    static boolean hasEnded(ProcessHandle process) {
        return !process.isAlive()
                || of(Long.toString(process.pid()))
                        .map(stat -> stat.state == ZOMBIE)
                        .orElse(false);
    }

    /** Whether a process handles SIGINT itself: neither ignores it nor is ended by it. True where there is no /proc. */
    static boolean handlesInterrupt(long pid) {
        try (Stream<String> lines =
                Files.lines(Path.of("/proc", Long.toString(pid), "status"), StandardCharsets.ISO_8859_1)) {
            return lines.filter(line -> line.startsWith(HANDLED_SIGNALS))
                    .map(line -> line.substring(HANDLED_SIGNALS.length()).strip())
                    .allMatch(mask -> (Long.parseUnsignedLong(mask, 16) & INTERRUPT_BIT) != 0);
        } catch (IOException | UncheckedIOException e) {
            return true;
        }
    }

    /** The name of a process, also of another user's; empty without /proc. */
    static Optional<String> program(ProcessHandle process) {
        try {
            return Optional.of(Files.readString(
                            Path.of("/proc", Long.toString(process.pid()), "comm"), StandardCharsets.ISO_8859_1)
                    .strip());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Where there is no /proc, as on a Mac. */
    private static Optional<ProcStat> byPs(long pid) {
        try {
            Process ps = new ProcessBuilder("ps", "-o", "state=,pgid=,tpgid=", "-p", Long.toString(pid)).start();
            String[] fields = new String(ps.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1)
                    .strip()
                    .split(" +", 3);
            return Optional.of(new ProcStat(fields[0].charAt(0), Long.parseLong(fields[1]), Long.parseLong(fields[2])));
        } catch (IOException | IndexOutOfBoundsException | NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** Empty when there is no such process, or no such file system. */
    private static Optional<ProcStat> of(String pid) {
        try {
            String stat = Files.readString(Path.of("/proc", pid, "stat"), StandardCharsets.ISO_8859_1);
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", FOREGROUND + 2);
            return Optional.of(new ProcStat(
                    fields[STATE].charAt(0), Long.parseLong(fields[GROUP]), Long.parseLong(fields[FOREGROUND])));
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
