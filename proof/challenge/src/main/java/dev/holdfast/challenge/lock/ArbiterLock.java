package dev.holdfast.challenge.lock;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.spi.Mode;
import dev.holdfast.tck.Modes;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;

/** A client of the {@link Arbiter}. */
record ArbiterLock(int port, String name, Flaw flaw) implements AttackedLock {
    @Override
    public Result turn(Mode mode, Work work) throws Exception {
        try (Socket connection = new Socket(InetAddress.getLoopbackAddress(), port)) {
            say(connection, flaw + " " + name + " " + Modes.write(mode));
            String answer = new BufferedReader(new InputStreamReader(connection.getInputStream(), UTF_8)).readLine();
            if (answer == null) {
                throw new EOFException("the arbiter is gone");
            }
            work.run(new Granted(Long.parseLong(answer)));
            say(connection, "release");
        }
        return Result.DONE;
    }

    private static void say(Socket connection, String line) throws IOException {
        connection.getOutputStream().write((line + "\n").getBytes(UTF_8));
    }

    private record Granted(long token) implements Grip {
        @Override
        public boolean isValid() {
            return true;
        }
    }

    @Override
    public void close() {
        // Each turn has a connection of its own.
    }
}
