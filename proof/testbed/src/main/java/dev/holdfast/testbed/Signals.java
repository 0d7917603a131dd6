package dev.holdfast.testbed;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Sends signals to a process by its id and proves that they took effect. */
final class Signals {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Set<Character> ENDED = Set.of('Z', 'X');

    private Signals() {}

    /** SIGKILL to all, and returns when they are gone. */
    static void kill(Collection<ProcessHandle> processes) {
        // All are hit before the first is awaited: whatever goes wrong with the waiting, none lives on.
        processes.forEach(ProcessHandle::destroyForcibly);
        for (ProcessHandle process : processes) {
            if (!Await.until(PATIENCE, () -> isGone(process))) {
                throw new AssertionError("process " + process.pid() + " outlived SIGKILL by " + PATIENCE);
            }
        }
    }

    /** SIGTERM, without waiting. */
    static void terminate(ProcessHandle process) {
        process.destroy();
    }

    /** SIGSTOP, and returns when every thread of the process is stopped. */
    static void stop(ProcessHandle process) {
        send("STOP", process);
        await(process, "stopped", Signals::allStopped);
    }

    /** SIGSTOP to a child of a server, which may end by itself: then it does nothing more, either. */
    static void stopChild(ProcessHandle process) {
        unlessGone(process, child -> {
            send("STOP", child);
            await(child, "stopped", states -> allStopped(states) || ENDED.containsAll(states));
        });
    }

    /** SIGCONT, and returns when no thread of the process is stopped any more. */
    static void cont(ProcessHandle process) {
        send("CONT", process);
        await(process, "continued", Signals::noneStopped);
    }

    /** SIGCONT to a child of a server, which may end as soon as it runs: then it is stopped no more, either. */
    static void contChild(ProcessHandle process) {
        unlessGone(process, Signals::cont);
    }

    private static void unlessGone(ProcessHandle process, Consumer<ProcessHandle> signal) {
        try {
            signal.accept(process);
        } catch (AssertionError e) {
            if (!isGone(process)) {
                throw e;
            }
        }
    }

    private static void send(String signal, ProcessHandle process) {
        // By the shell: its kill is built in, the program of that name is missing in small images.
        try {
            Process kill = new ProcessBuilder("sh", "-c", "kill -" + signal + " " + process.pid())
                    .redirectErrorStream(true)
                    .start();
            kill.getOutputStream().close();
            String said = new String(kill.getInputStream().readAllBytes(), UTF_8);
            int exit = kill.onExit().join().exitValue();
            if (exit != 0) {
                throw new AssertionError("SIG" + signal + " did not reach process " + process.pid() + ": " + said);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot send SIG" + signal + " to process " + process.pid(), e);
        }
    }

    private static void await(ProcessHandle process, String wanted, Predicate<Set<Character>> proof) {
        boolean proven = Await.until(PATIENCE, () -> {
            Set<Character> states = ProcessStates.of(process.pid());
            if (states.isEmpty() || !process.isAlive()) {
                throw new AssertionError("process " + process.pid() + " ended before it was " + wanted);
            }
            return proof.test(states);
        });
        if (!proven) {
            throw new AssertionError("process " + process.pid() + " was not " + wanted + " within " + PATIENCE
                    + "; states of its threads: " + ProcessStates.of(process.pid()));
        }
    }

    private static boolean isGone(ProcessHandle process) {
        // A dead process whose parent does not collect it stays listed: it runs nothing and holds nothing.
        return !process.isAlive() || ENDED.containsAll(ProcessStates.of(process.pid()));
    }

    private static boolean allStopped(Set<Character> states) {
        // A thread that has ended but is not yet collected runs no more than a stopped one.
        return states.contains('T') && states.stream().allMatch(state -> state == 'T' || ENDED.contains(state));
    }

    private static boolean noneStopped(Set<Character> states) {
        return !states.contains('T');
    }
}
