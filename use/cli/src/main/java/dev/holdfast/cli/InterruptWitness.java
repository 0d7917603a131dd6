package dev.holdfast.cli;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A process of our group that notices SIGINT too, by which we know whether the command got one.
 *
 * <p>A terminal sends Ctrl-C to its whole foreground group, so to the command as well; {@code kill -INT} reaches this
 * process alone. Java does not say which of the two it was. The witness does: it got a SIGINT if the whole group did. The
 * system signals a group in one go, so the witness has the signal before our question arrives, and a shell handles a
 * signal before it runs its next command. Thread-safe.
 */
final class InterruptWitness {
    /** What a witness knows. */
    enum Answer {
        /** The whole group got a SIGINT since the last question. */
        INTERRUPT,
        /** The group got none. */
        NOTHING,
        /** The witness is gone. */
        UNKNOWN
    }

    private static final String SAW = "saw";
    /** Ends with its input, and so with this process. */
    private static final String SCRIPT = "trap 'echo " + SAW + "; saw=1' INT; trap '' HUP QUIT TERM USR1 USR2; "
            + "while saw= question=; read -r question || [ \"$saw\" ]; do [ -z \"$question\" ] || echo answer; done";

    private final ReentrantLock lock = new ReentrantLock();
    private final BufferedWriter questions;
    private final BufferedReader answers;

    private InterruptWitness(Process shell) {
        questions = new BufferedWriter(new OutputStreamWriter(shell.getOutputStream(), StandardCharsets.US_ASCII));
        answers = new BufferedReader(new InputStreamReader(shell.getInputStream(), StandardCharsets.US_ASCII));
    }

    /** Starts one, where a terminal could send SIGINT; empty also when no process can be started. */
    static Optional<InterruptWitness> start() {
        if (!ProcStat.hasTerminal()) {
            return Optional.empty();
        }
        try {
            return Optional.of(new InterruptWitness(new ProcessBuilder("/bin/sh", "-c", SCRIPT)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start()));
        } catch (IOException | OutOfMemoryError e) { // the latter: no process or thread can be created
            return Optional.empty();
        }
    }

    /** Whether the whole group got a SIGINT since the last question. */
    Answer ask() {
        lock.lock();
        try {
            questions.write("?\n");
            questions.flush();
            boolean saw = false;
            String line = answers.readLine();
            while (SAW.equals(line)) {
                saw = true;
                line = answers.readLine();
            }
            return line == null ? Answer.UNKNOWN : saw ? Answer.INTERRUPT : Answer.NOTHING;
        } catch (IOException e) {
            return Answer.UNKNOWN;
        } finally {
            lock.unlock();
        }
    }
}
