package dev.holdfast.cli;

import java.io.IOException;

/** Whether there is a person at the other end. */
final class Terminal {
    static final int STDIN = 0;
    static final int STDOUT = 1;
    static final int STDERR = 2;

    private Terminal() {}

    /** Whether one of our standard streams is a terminal: Java can only say whether stdin and stdout both are one. */
    static boolean isAt(int stream) {
        try {
            return new ProcessBuilder("/bin/sh", "-c", "test -t " + stream)
                            .inheritIO()
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
