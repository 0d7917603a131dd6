package dev.holdfast.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.RespConnection;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Servers that are too old, or not ready yet. */
class UnreadyServerTest {
    @AutoClose
    private Rig rig;

    @Test
    void aServerOfAnOlderKind() throws Exception {
        rig = new Rig();
        try (ServerSocket old = redis4()) {
            assertThatThrownBy(() -> rig.open("redis://127.0.0.1:" + old.getLocalPort() + "?timeout=3s"))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("Redis 4.0.14")
                    .hasMessageContaining("5 or later")
                    .hasMessageContaining("upgrade");
        }
    }

    @Test
    @Tag("thorough")
    void aServerWithoutACommandThatLocksNeed() {
        rig = new Rig("--rename-command", "ZADD", "");
        RedisStore store = rig.open();
        Grant grant = Rig.hold(store, "a");
        Asked waits = Asked.of(rig.open(), Rig.waiting(Rig.claim("a")));

        assertThatThrownBy(() -> Rig.granted(waits))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("command")
                .hasMessageContaining("Redis 5 or later");
        assertThat(Rig.release(store, grant)).isTrue();
    }

    @Test
    @Tag("thorough")
    void aServerThatLoadsItsData() {
        rig = new Rig("--enable-debug-command", "yes");
        RedisStore before = rig.open();
        Grant grant = Rig.hold(before, "a");
        rig.call("DEBUG", "POPULATE", "2000", "filler", "2000");
        rig.call("CONFIG", "SET", "loading-process-events-interval-bytes", "1024");
        rig.call("CONFIG", "SET", "key-load-delay", "1000");
        try (RespConnection other = rig.server.connect()) {
            other.send("DEBUG", "RELOAD");
            Rig.until("the server to load", () -> saysThatItLoads(before));
            RedisStore during = rig.open();
            assertThat(saysThatItLoads(during)).isTrue();
            Asked waits = Asked.of(during, Rig.waiting(Rig.claim("b")));

            assertThat(Rig.granted(waits)).as("served when it has loaded").isNotNull();
        }
        assertThat(Rig.renew(before, grant)).isEqualTo(Verdict.HELD);
    }

    private static boolean saysThatItLoads(RedisStore store) {
        try {
            Rig.attempt(store, "probe");
            return false;
        } catch (StoreUnavailableException loading) {
            assertThat(loading).hasMessageContaining("loading its data");
            return true;
        }
    }

    /** Answers as Redis 4 does: no such server is available any more. */
    private static ServerSocket redis4() throws IOException {
        ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        Thread thread = new Thread(() -> {
            while (!server.isClosed()) {
                try (Socket client = server.accept()) {
                    answerAsRedis4(client);
                } catch (IOException closed) {
                    // the next one, or the end
                }
            }
        });
        thread.setDaemon(true);
        thread.start();
        return server;
    }

    private static void answerAsRedis4(Socket client) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream(), US_ASCII));
        OutputStream out = client.getOutputStream();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (!line.startsWith("*")) {
                continue; // an argument
            }
            in.readLine();
            String command = in.readLine();
            String info = "# Server\r\nredis_version:4.0.14\r\nredis_mode:standalone\r\n";
            String answer = switch (command) {
                case "INFO" -> "$" + info.length() + "\r\n" + info + "\r\n";
                case "PING" -> "+PONG\r\n";
                case "CONFIG" -> "*0\r\n";
                case "SCRIPT" -> "$0\r\n\r\n";
                default -> "-ERR unknown command `" + command + "`\r\n";
            };
            out.write(answer.getBytes(US_ASCII));
            out.flush();
        }
    }
}
