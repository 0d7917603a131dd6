package dev.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.StaleTokenException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.Certificate;
import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.Ports;
import io.etcd.jetcd.KeyValue;
import io.grpc.Status;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is refused, and how that is said: other servers, users, keys, leases and URLs than will do. */
class RefusalTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "etcd:host",
                "etcd://",
                "etcd://host:99999",
                "etcd://a b",
                "etcd://host?session=5s",
                "etcd://host?timeout=0s",
                "etcd://host?timeout=soon",
                "etcd://me@host",
                "etcd://host?cacert=/none",
                "etcds://host?cacert=/none",
                "etcd://h%"
            })
    void aUrlThatIsWrongIsAnsweredWithOneThatIsNot(String url) {
        assertThatThrownBy(() -> LockClient.connect(url))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageMatching("(?s).*(etcds?://|names a file|such as 500ms).*");
    }

    @Test
    void aUrlIsShownWithoutUserAndPassword() {
        assertThat(EtcdUrl.parse("etcd://clerk:secret1@host/app", Optional.empty()))
                .hasToString("etcd://host:2379/app");
    }

    @Test
    void aServerThatIsNotThereIsUnavailable() {
        String url = "etcd://127.0.0.1:" + Ports.free();
        assertThatThrownBy(() -> LockClient.connect(url))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining(url);
    }

    /** As an etcd 2 does, or one that serves its first API alone. */
    @Test
    void aServerThatSpeaksHttpAloneIsNotTakenForEtcd3() throws Exception {
        HttpServer old = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        old.createContext("/", exchange -> {
            byte[] answer = "{\"etcdserver\":\"2.3.8\"}".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(404, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        old.start();
        try {
            assertThatThrownBy(() -> LockClient.connect(
                            "etcd://127.0.0.1:" + old.getAddress().getPort() + "?timeout=2s"))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageMatching("(?s).*(none that etcd 3 gives|gave no answer in time).*");
        } finally {
            old.stop(0);
        }
    }

    @Test
    void usersAndRightsAreToldApart() throws Exception {
        try (EtcdServer server = OrSkip.orSkip(EtcdServer::start)) {
            Etcd.load(server.endpoint());
            String at = "@" + server.endpoint();
            assertRefused("etcd://root:secret1" + at, "authentication is not enabled");
            for (String user : List.of("root", "clerk")) {
                server.ask("auth/user/add", "{\"name\":\"" + user + "\",\"password\":\"secret1\"}");
            }
            server.ask("auth/role/add", "{\"name\":\"root\"}");
            server.ask("auth/user/grant", "{\"user\":\"root\",\"role\":\"root\"}");
            server.ask("auth/enable", "{}");

            assertRefused("etcd://" + server.endpoint(), "name a user");
            assertRefused("etcd://root:wrong-one" + at, "correct user and password");
            assertRefused("etcd://clerk:secret1" + at, "grant its role readwrite");
            try (LockClient client = LockClient.builder("etcd://root" + at)
                            .password("secret1")
                            .build();
                    Hold hold = client.lock("job").acquire()) {
                assertThat(hold.isValid()).isTrue();
                assertThat(client.lock("job").status().isHeld()).isTrue();
            }
        }
    }

    @Test
    void keysOfOthersAndOfANewerHoldfastAreLeftAlone() throws Exception {
        try (EtcdServer server = OrSkip.orSkip(EtcdServer::start)) {
            Etcd.load(server.endpoint());
            put(server, "/a/holdfast/theirs", "7");
            assertRefused("etcd://" + server.endpoint() + "/a", "/a/holdfast/theirs that is not Holdfast's");
            put(server, "/b/holdfast/layout", "holdfast 2");
            assertRefused("etcd://" + server.endpoint() + "/b", "upgrade");
            put(server, "/c/holdfast/layout", "theirs");
            assertRefused("etcd://" + server.endpoint() + "/c", "another prefix");

            try (LockClient client = LockClient.connect("etcd://" + server.endpoint() + "/d")) {
                put(server, "/d/holdfast/locks/job\0theirs", "7");
                try (Hold hold = client.lock("job").acquire()) {
                    assertThat(hold.isValid()).isTrue();
                    assertThat(client.list("*")).hasSize(1);
                }
                assertThat(client.list("*")).isEmpty();
            }
        }
    }

    @Test
    void aLeaseBeyondWhatTheServersGiveIsRefused() {
        try (EtcdServer server = OrSkip.orSkip(EtcdServer::start);
                io.etcd.jetcd.Client client = io.etcd.jetcd.Client.builder()
                        .endpoints("http://" + server.endpoint())
                        .build()) {
            Requests requests = new Requests(client, new KitTime(), Duration.ofSeconds(5), new Errors("etcd"));
            assertThatThrownBy(() -> requests.grantLease(9_000_000_001L).join())
                    .hasCauseInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("ask for a shorter one");
        }
    }

    /** By one code for both, of which one needs somebody to act. */
    @Test
    void serversThatAreOverloadedAreNotTakenForFullOnes() {
        Errors errors = new Errors("etcd");
        Status overloaded = Status.RESOURCE_EXHAUSTED.withDescription("etcdserver: too many requests");
        Status full = Status.RESOURCE_EXHAUSTED.withDescription("etcdserver: mvcc: database space exceeded");

        assertThat(errors.of(overloaded.asRuntimeException())).hasMessageContaining("try again");
        assertThat(errors.of(full.asRuntimeException())).hasMessageContaining("defragment");
    }

    @Test
    void aFenceAdmitsNoTokenBelowTheHighest() {
        try (EtcdServer server = OrSkip.orSkip(EtcdServer::start);
                io.etcd.jetcd.Client client = io.etcd.jetcd.Client.builder()
                        .endpoints("http://" + server.endpoint())
                        .build()) {
            EtcdFence fence = EtcdFence.on(client);
            fence.check("stock", 9);
            fence.check("stock", 10);
            fence.check("stock", 10);
            assertThatThrownBy(() -> fence.check("stock", 9)).isInstanceOf(StaleTokenException.class);
            fence.check("stock", Long.MAX_VALUE);
            assertThatThrownBy(() -> fence.check("stock", Long.MAX_VALUE - 1)).isInstanceOf(StaleTokenException.class);
            fence.check("another", 1);
            assertThatThrownBy(() -> fence.check("stock", -1)).isInstanceOf(IllegalArgumentException.class);
            for (String foreign : List.of("", "what is this", "7", "000000000000000000-1", "9223372036854775808")) {
                put(server, "/holdfast/fences/odd", foreign);
                assertThatThrownBy(() -> fence.check("odd", Long.MAX_VALUE))
                        .as(foreign)
                        .isInstanceOf(StoreRefusedException.class)
                        .hasMessageEndingWith("its key is /holdfast/fences/odd");
                assertThat(client.getKVClient()
                                .get(Keys.bytes("/holdfast/fences/odd"))
                                .join()
                                .getKvs())
                        .extracting(KeyValue::getValue)
                        .containsExactly(Keys.bytes(foreign));
            }
            try (LockClient locks = LockClient.connect("etcd://" + server.endpoint())) {
                assertThat(locks.list("*"))
                        .as("a store beside a fence that was there first")
                        .isEmpty();
            }
        }
    }

    @Test
    @Tag("thorough")
    void tlsTrustsTheCertificateThatIsNamedAndNoOther() throws Exception {
        Certificate own = Certificate.selfSigned(folder, "own", "ip:127.0.0.1");
        Certificate other = Certificate.selfSigned(folder, "other", "ip:127.0.0.1");
        int port = Ports.free();
        try (EtcdServer server = OrSkip.orSkip(() -> EtcdServer.startWithTls(own, port))) {
            String url = "etcds://127.0.0.1:" + port + "?timeout=4s&cacert=";
            try (LockClient client = LockClient.connect(url + own.file());
                    Hold hold = client.lock("job").acquire()) {
                assertThat(hold.isValid()).isTrue();
            }
            assertThatThrownBy(() -> LockClient.connect(url + other.file()))
                    .isInstanceOf(StoreUnavailableException.class);
            assertThatThrownBy(() -> LockClient.connect("etcds://" + server.endpoint() + "?timeout=2s"))
                    .isInstanceOf(StoreUnavailableException.class);
        }
    }

    @Test
    void aLentClientStaysOpenAndItsNamespaceCounts() throws Exception {
        try (EtcdServer server = OrSkip.orSkip(EtcdServer::start);
                io.etcd.jetcd.Client client = io.etcd.jetcd.Client.builder()
                        .endpoints("http://" + server.endpoint())
                        .namespace(Keys.bytes("/mine"))
                        .build()) {
            try (LockClient locks = LockClient.builder(EtcdStores.on(client)).build();
                    LockClient more = LockClient.builder(EtcdStores.on(client)).build();
                    LockClient same = LockClient.connect("etcd://" + server.endpoint() + "/mine")) {
                Hold hold = locks.lock("job").acquire();
                assertThat(more.lock("job").tryAcquire()).isEmpty();
                assertThat(same.lock("job").tryAcquire()).isEmpty();
                assertThat(same.lock("job").status().isHeld()).isTrue();
                var waiting = more.lock("job").acquireAsync();
                hold.close();
                waiting.get(30, java.util.concurrent.TimeUnit.SECONDS).close();
            }
            assertThat(client.getKVClient().get(Keys.bytes("any")).get().getCount())
                    .isZero();
        }
    }

    private static void assertRefused(String url, String says) {
        assertThatThrownBy(() -> LockClient.connect(url))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining(says)
                .hasMessageNotContaining("secret1");
    }

    private static void put(EtcdServer server, String key, String value) {
        Map<String, String> pair = Map.of("key", Etcd.base64(key), "value", Etcd.base64(value));
        server.ask("kv/put", "{\"key\":\"" + pair.get("key") + "\",\"value\":\"" + pair.get("value") + "\"}");
    }
}
