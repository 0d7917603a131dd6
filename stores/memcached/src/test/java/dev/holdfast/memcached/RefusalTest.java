package dev.holdfast.memcached;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.UnsupportedByStoreException;
import dev.holdfast.testbed.MemcachedServer;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.Ports;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import net.spy.memcached.ConnectionFactoryBuilder;
import net.spy.memcached.MemcachedClient;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is refused, and how that is said: other servers, values, names, leases, modes and URLs than will do. */
class RefusalTest {
    private static final String CLOSED = "";

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "memcached:host",
                "memcached://",
                "memcached://host:99999",
                "memcached://host:0",
                "memcached://a b",
                "memcached://host?session=5s",
                "memcached://host?timeout=0s",
                "memcached://host?timeout=soon",
                "memcached://me:secret1@host",
                "memcached://host/prefix"
            })
    void aUrlThatIsWrongIsAnsweredWithOneThatIsNot(String url) {
        assertThatThrownBy(() -> LockClient.connect(url))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("write memcached://host:11211")
                .hasMessageNotContaining("secret1");
    }

    @Test
    void aServerThatIsNotThereIsUnavailable() throws Exception {
        String url = "memcached://127.0.0.1:" + Ports.free();
        assertThatThrownBy(() -> LockClient.connect(url))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining(url)
                .hasMessageContaining("is it up");
    }

    @Test
    void oneHostOfSeveralThatHasNoAddressIsNamed() throws Exception {
        try (MemcachedServer server = OrSkip.orSkip(MemcachedServer::start)) {
            String url = "memcached://" + server.endpoint() + ",cache2.invalid:11211";
            assertThatThrownBy(() -> LockClient.connect(url))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("without an address, cache2.invalid");
        }
    }

    @Test
    void aServerOfAnotherProtocolIsNotTakenForMemcached() throws Exception {
        HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        http.start();
        try {
            assertThatThrownBy(() -> LockClient.connect(
                            "memcached://127.0.0.1:" + http.getAddress().getPort() + "?timeout=2s"))
                    .isInstanceOfAny(StoreRefusedException.class, StoreUnavailableException.class)
                    .hasMessageMatching("(?s).*(which Memcached does not|did not answer a greeting).*");
        } finally {
            http.stop(0);
        }
    }

    @Test
    void aLeaseThatTheServersClockCannotTellIsRefusedAndLeavesNothing() throws Exception {
        try (MemcachedServer server = OrSkip.orSkip(MemcachedServer::start);
                LockClient client = connect(server)) {
            HoldOptions tooShort = HoldOptions.defaults().lease(Duration.ofMillis(2_999));
            assertThatThrownBy(() -> client.lock("job", tooShort).acquire())
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("3 s or more")
                    .hasMessageContaining("'job'");
            assertThat(client.lock("job").status().isHeld()).isFalse();
            client.lock("job", HoldOptions.defaults().lease(Duration.ofDays(7)))
                    .acquire()
                    .close();
        }
    }

    @Test
    void whatIsNotExclusiveIsRefusedWhenItIsBuilt() throws Exception {
        try (MemcachedServer server = OrSkip.orSkip(MemcachedServer::start);
                LockClient client = connect(server)) {
            assertThatThrownBy(() -> client.readWriteLock("job")).isInstanceOf(UnsupportedByStoreException.class);
            assertThatThrownBy(() -> client.semaphore("job", 3)).isInstanceOf(UnsupportedByStoreException.class);
            assertThatThrownBy(() -> client.once("job")).isInstanceOf(UnsupportedByStoreException.class);
        }
    }

    @Test
    void aServerThatTakesNoItemsAsLargeIsToldAndTakesSmallerOnes() throws Exception {
        try (MemcachedServer server =
                        OrSkip.orSkip(() -> MemcachedServer.start("-I", "1k", "-o", "slab_chunk_max=512"));
                LockClient client = connect(server)) {
            assertThatThrownBy(() -> client.lock("日".repeat(255)).acquire())
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("-I");
            client.lock("job").acquire().close();
        }
    }

    @Test
    void whatTheServerRefusesCostsNoOtherHoldOfTheClient() throws Exception {
        try (MemcachedServer server =
                        OrSkip.orSkip(() -> MemcachedServer.start("-I", "1k", "-o", "slab_chunk_max=512"));
                LockClient client = connect(server);
                Hold hold = client.lock("job", HoldOptions.defaults().lease(Duration.ofSeconds(9)))
                        .acquire()) {
            long connections = server.stat("total_connections");
            int renewals = 0;
            for (long end = endOf(hold); renewals < 3; ) {
                assertThatThrownBy(() -> client.lock("日".repeat(255)).tryAcquire())
                        .isInstanceOf(StoreRefusedException.class)
                        .hasMessageContaining("-I");
                assertThat(hold.isValid()).isTrue();
                if (endOf(hold) - end > TimeUnit.SECONDS.toNanos(1)) {
                    renewals++;
                    end = endOf(hold);
                }
                LockSupport.parkNanos(20_000_000); // each is logged
            }
            assertThat(server.stat("total_connections"))
                    .as("but for the one that asks")
                    .isEqualTo(connections + 1);
        }
    }

    @Test
    void aServerWithoutCasIsRefused() throws Exception {
        try (MemcachedServer server = OrSkip.orSkip(() -> MemcachedServer.start("-C"));
                LockClient client = connect(server)) {
            assertThatThrownBy(() -> client.lock("job").acquire())
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("-C");
        }
    }

    @Test
    @Tag("thorough") // fills the server
    void aServerThatDoesNotEvictAndHasNoMemoryLeftIsUnavailable() throws Exception {
        try (MemcachedServer server = OrSkip.orSkip(() -> MemcachedServer.start("-M", "-m", "1", "-I", "512k"));
                LockClient client = LockClient.builder("memcached://" + server.endpoint() + "?timeout=2s")
                        .outageLimit(Duration.ofSeconds(1))
                        .build()) {
            for (int size = 120; size < 400; size += 40) {
                int bytes = size;
                server.setAll(IntStream.range(0, 5_000).mapToObj(i -> "other" + bytes + "-" + i), bytes);
            }
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 100; i++) {
                            client.lock("job" + i).acquire();
                        }
                    })
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("memory");
        }
    }

    @Test
    void aValueOfAnotherProgramUnderTheKeyIsLeftAloneAndToldOf() throws Exception {
        try (MemcachedServer server = OrSkip.orSkip(MemcachedServer::start);
                LockClient client = connect(server)) {
            server.set(StoredLock.key("job"), 7);
            assertThatThrownBy(() -> client.lock("job").acquire())
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("'holdfast:lock:job'")
                    .hasMessageContaining("delete it");
            assertThat(client.lock("job").status().isHeld()).as("told as held").isTrue();
            assertThat(server.ask("get " + StoredLock.key("job"))).hasSize(3);
            server.set(Commands.Place.BASE, 7);
            assertThatThrownBy(() -> client.lock("other").acquire())
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining(Commands.Place.BASE);
        }
    }

    @Test
    void namesThatAreNoKeysOfMemcachedAreLocksToo() throws Exception {
        List<String> names = List.of("a b", "日本", "x".repeat(255), "tab\u00a0", "plain");
        try (MemcachedServer server = OrSkip.orSkip(MemcachedServer::start);
                LockClient client = connect(server)) {
            for (String name : names) {
                assertThat(client.lock(name).tryAcquire()).as(name).isPresent();
                assertThat(client.lock(name).tryAcquire()).as(name).isEmpty();
            }
            assertThat(client.list("*")).extracting(LockStatus::name).containsExactlyInAnyOrderElementsOf(names);
        }
    }

    @Test
    void aServerThatDoesNotNameItsKeysIsToldAndLocksAllTheSame() throws Exception {
        try (MemcachedServer server = OrSkip.orSkip(() -> MemcachedServer.start("-o", "no_lru_crawler"));
                LockClient client = connect(server);
                Hold hold = client.lock("job").acquire()) {
            assertThatThrownBy(() -> client.list("*"))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("cannot be listed");
            assertThat(client.lock(hold.name()).status().isHeld()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ERROR\r\n", "CLIENT_ERROR unsupported\r\n", CLOSED})
    void behindAProxyThatPassesOnTheCommandsOfLocksAloneTheyCannotBeListed(String answer) throws Exception {
        try (MemcachedServer server = OrSkip.orSkip(MemcachedServer::start);
                TextProxy proxy = new TextProxy(server.port(), Map.of("lru_crawler", answer));
                LockClient client = LockClient.connect(proxy.url());
                LockClient other = connect(server);
                Hold hold = client.lock("x".repeat(255)).acquire()) {
            assertThat(other.lock(hold.name()).tryAcquire()).isEmpty();
            assertThat(client.lock(hold.name()).status().isHeld()).isTrue();
            assertThatThrownBy(() -> client.list("*"))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("cannot be listed, only asked for by name")
                    .hasMessageContaining("behind a proxy");
        }
    }

    @Test
    void aProxyThatClosesTheConnectionAtAGreetingIsToldOf() throws Exception {
        try (TextProxy proxy = new TextProxy(Ports.free(), Map.of("version", CLOSED))) {
            assertThatThrownBy(() -> LockClient.connect(proxy.url()))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("does a proxy before it pass on 'version'");
        }
    }

    /** An older server names its keys by the order of use, in which one that is used meanwhile moves. */
    @Test
    void aLockWhoseKeyIsNamedTwiceIsListedOnce() throws Exception {
        String twice = "key=holdfast%3Alock%3Ajob exp=-1 la=1 cas=1 fetch=no cls=1 size=1\r\n".repeat(2) + "END\r\n";
        try (MemcachedServer server = OrSkip.orSkip(MemcachedServer::start);
                TextProxy proxy = new TextProxy(server.port(), Map.of("lru_crawler", twice));
                LockClient client = LockClient.connect(proxy.url());
                Hold hold = client.lock("job").acquire()) {
            assertThat(client.list("*")).extracting(LockStatus::name).containsExactly(hold.name());
        }
    }

    @Test
    void aServerThatDemandsALogInIsToldApart() throws Exception {
        Path users = Files.writeString(folder.resolve("users"), "clerk:secret1\n");
        try (MemcachedServer server = OrSkip.orSkip(() -> MemcachedServer.start("-Y", users.toString()))) {
            assertThatThrownBy(() -> connect(server))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("demands a log-in");
        }
    }

    @Test
    void aClientOfTheApplicationKeepsLocksIfItHasOneServerAndSpeaksText() throws Exception {
        try (MemcachedServer server = OrSkip.orSkip(MemcachedServer::start)) {
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port());
            MemcachedClient own = new MemcachedClient(address);
            try (LockClient client = LockClient.builder(MemcachedStores.on(own)).build();
                    Hold hold = client.lock("job").acquire()) {
                assertThat(hold.isValid()).isTrue();
            }
            own.set("key", 60, "still open").get();
            assertThat(own.get("key")).isEqualTo("still open");
            own.shutdown();

            MemcachedClient binary = new MemcachedClient(
                    new ConnectionFactoryBuilder()
                            .setProtocol(ConnectionFactoryBuilder.Protocol.BINARY)
                            .build(),
                    List.of(address));
            assertThatThrownBy(
                            () -> LockClient.builder(MemcachedStores.on(binary)).build())
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("Protocol.TEXT");
            binary.shutdown();
            MemcachedClient two = new MemcachedClient(address, address);
            assertThatThrownBy(() -> LockClient.builder(MemcachedStores.on(two)).build())
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("by a memcached: URL");
            two.shutdown();
        }
    }

    /** When a hold ends if it is not renewed. */
    private static long endOf(Hold hold) {
        return System.nanoTime() + hold.remaining().toNanos();
    }

    private static LockClient connect(MemcachedServer server) {
        return LockClient.connect("memcached://" + server.endpoint());
    }

    /**
     * A proxy of the text protocol, on a port of this machine: what begins as one of some requests gets its own answer, or is
     * {@link #CLOSED}; all other connections are passed on as they are.
     */
    private static final class TextProxy implements AutoCloseable {
        private final ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final List<Socket> sockets = new CopyOnWriteArrayList<>();

        TextProxy(int port, Map<String, String> own) throws IOException {
            run(() -> {
                while (true) {
                    Socket client = listening.accept();
                    sockets.add(client);
                    run(() -> serve(client, port, own));
                }
            });
        }

        String url() {
            return "memcached://127.0.0.1:" + listening.getLocalPort();
        }

        private void serve(Socket client, int port, Map<String, String> own) throws IOException {
            try (client) {
                byte[] buffer = new byte[256];
                int length = Math.max(0, client.getInputStream().read(buffer));
                String first = new String(buffer, 0, length, StandardCharsets.US_ASCII);
                for (Map.Entry<String, String> each : own.entrySet()) {
                    if (first.startsWith(each.getKey())) {
                        client.getOutputStream().write(each.getValue().getBytes(StandardCharsets.US_ASCII));
                        return;
                    }
                }
                try (Socket server = new Socket(InetAddress.getLoopbackAddress(), port)) {
                    sockets.add(server);
                    server.getOutputStream().write(buffer, 0, length);
                    run(() -> server.getInputStream().transferTo(client.getOutputStream()));
                    client.getInputStream().transferTo(server.getOutputStream());
                }
            }
        }

        private interface Work {
            void run() throws IOException;
        }

        private static void run(Work work) {
            Thread thread = new Thread(() -> {
                try {
                    work.run();
                } catch (IOException closed) {
                    // by one side, or at the end of the test
                }
            });
            thread.setDaemon(true);
            thread.start();
        }

        @Override
        public void close() throws IOException {
            listening.close();
            for (Socket each : sockets) {
                each.close();
            }
        }
    }
}
