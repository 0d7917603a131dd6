package dev.holdfast.cli;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Sends signals that Java cannot send: Java knows SIGTERM and SIGKILL alone. A shell, started with the first signal,
 * sends them by its own {@code kill}, so that a further one costs no process. Thread-safe.
 */
final class SignalSender implements AutoCloseable {
    /** Stops a process, which then cannot start another one. */
    static final String STOP = "STOP";

    /** The shell outlives every signal that a terminal or a service manager sends to all processes of a job. */
    private static final String SCRIPT =
            "trap '' HUP INT QUIT TERM USR1 USR2; while read -r signal pid; do kill -s \"$signal\" \"$pid\"; echo $?; done";

    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Process shell;
    private @Nullable BufferedWriter requests;
    private @Nullable BufferedReader answers;

    /**
     * Sends a signal.
     *
     * @param signal its name without the prefix, or its number
     * @return whether the system accepted it; false also when the shell cannot be started
     */
    boolean send(String signal, long pid) {
        lock.lock();
        try {
            String answer = ask(signal, pid);
            if (answer == null) { // a signal to the whole process group may have ended the shell
                requests = null;
                answer = ask(signal, pid);
            }
            return "0".equals(answer);
        } finally {
            lock.unlock();
        }
    }

    /** What the shell's kill returned; null if there is no shell. */
    private @Nullable String ask(String signal, long pid) {
        try {
            BufferedWriter out = started();
            out.write(signal + " " + pid + "\n");
            out.flush();
            return answers == null ? null : answers.readLine();
        } catch (IOException | OutOfMemoryError e) { // the latter: no process or thread can be created
            return null;
        }
    }

    private BufferedWriter started() throws IOException {
        if (requests == null) {
            Process started = new ProcessBuilder("/bin/sh", "-c", SCRIPT)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            shell = started;
            answers = new BufferedReader(new InputStreamReader(started.getInputStream(), StandardCharsets.US_ASCII));
            requests = new BufferedWriter(new OutputStreamWriter(started.getOutputStream(), StandardCharsets.US_ASCII));
        }
        return requests;
    }

    @Override
    public void close() {
        lock.lock();
        try {
            if (shell != null) {
                shell.destroyForcibly();
            }
        } finally {
            lock.unlock();
        }
    }
}
