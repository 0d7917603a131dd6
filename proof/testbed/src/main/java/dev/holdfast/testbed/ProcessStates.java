package dev.holdfast.testbed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;

/**
 * The states of a process as the kernel tells them: R runs, S sleeps, T is stopped, Z is dead and not yet collected.
 *
 * <p>On Linux each thread is asked: SIGSTOP stops the threads one after the other, and the first may be stopped while
 * the last still writes to a socket. Elsewhere {@code ps} tells one state for the whole process.
 */
final class ProcessStates {
    private static final boolean HAS_PROC = Files.isReadable(Path.of("/proc/self/stat"));

    private ProcessStates() {}

    /** The states of the threads of a process; empty when there is no such process. */
    static Set<Character> of(long pid) {
        try {
            return HAS_PROC ? fromProc(pid) : fromPs(pid);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the state of process " + pid, e);
        }
    }

    static Set<Character> fromProc(long pid) throws IOException {
        Path process = Path.of("/proc/" + pid);
        Set<Character> states = new TreeSet<>();
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(process.resolve("task"))) {
            for (Path thread : threads) {
                addState(thread.resolve("stat"), states);
            }
        } catch (IOException | DirectoryIteratorException e) {
            if (Files.exists(process)) {
                throw e;
            }
            // It ended under our eyes, which has several error codes; what was seen so far is no longer true.
            return Set.of();
        }
        return states;
    }

    static Set<Character> fromPs(long pid) throws IOException {
        Process ps = new ProcessBuilder("ps", "-o", "state=", "-p", Long.toString(pid))
                .redirectErrorStream(true)
                .start();
        String state = new String(ps.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        int exit = ps.onExit().join().exitValue();
        return exit != 0 || state.isEmpty() ? Set.of() : Set.of(state.charAt(0));
    }

    private static void addState(Path stat, Set<Character> states) throws IOException {
        try {
            String text = Files.readString(stat, StandardCharsets.ISO_8859_1);
            // "pid (name) S …": the name may itself hold blanks and brackets.
            states.add(text.charAt(text.lastIndexOf(')') + 2));
        } catch (IOException e) {
            if (Files.exists(stat)) {
                throw e;
            }
            // This one thread ended: the others still count.
        }
    }
}
