package dev.holdfast.challenge.lock;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.spi.Mode;
import dev.holdfast.tck.Modes;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;

/** A client of the {@link Arbiter}. */
record ArbiterLock(int port, String name, Flaw flaw) implements AttackedLock {
    @Override
    public Result turn(Mode mode, Work work) throws Exception {
        // A channel: a wait ends when its thread is interrupted.
        try (SocketChannel connection =
                SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
            say(connection, flaw + " " + name + " " + Modes.write(mode));
            String answer = new BufferedReader(Channels.newReader(connection, UTF_8)).readLine();
            if (answer == null) {
                throw new EOFException("the arbiter is gone");
            }
            work.run(new Grip(Long.parseLong(answer), 0, () -> flaw != Flaw.NEVER_VALID));
            say(connection, "release");
        }
        return flaw == Flaw.ALWAYS_LOST ? Result.LOST : Result.DONE;
    }

    private static void say(SocketChannel connection, String line) throws IOException {
        ByteBuffer bytes = UTF_8.encode(line + "\n");
        while (bytes.hasRemaining()) {
            connection.write(bytes);
        }
    }
}
