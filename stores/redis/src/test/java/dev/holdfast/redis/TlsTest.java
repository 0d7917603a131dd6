package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.Grant;
import dev.holdfast.testbed.Certificate;
import dev.holdfast.testbed.Ports;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.SslOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A Redis with TLS: a client that trusts it is served, and all others receive a message that says what to do. */
class TlsTest {
    @TempDir
    private static Path folder;

    private static Certificate own;
    private static Certificate elsewhere;

    private final int port = Ports.free();

    @AutoClose
    private Rig rig;

    @BeforeAll
    static void makeCertificates() {
        own = Certificate.selfSigned(folder, "own", "ip:127.0.0.1");
        elsewhere = Certificate.selfSigned(folder, "elsewhere", "dns:elsewhere.example");
    }

    @BeforeEach
    void start() {
        rig = speaking(own);
    }

    private Rig speaking(Certificate certificate) {
        Rig made = Rig.installed(
                Map.of(),
                "--tls-port",
                Integer.toString(port),
                "--tls-cert-file",
                certificate.file().toString(),
                "--tls-key-file",
                certificate.key().toString(),
                "--tls-auth-clients",
                "no");
        made.call("CONFIG", "SET", "requirepass", "s3cret");
        return made;
    }

    @Test
    void withItsCertificateLocksAreHeldAndHandedOver() {
        RedisStore one = rig.open(trusting(own));
        RedisStore two = rig.open(trusting(own));
        Grant grant = Rig.hold(one, "a");
        var waits = Rig.queue(two, "a");

        assertThat(Rig.release(one, grant)).isTrue();

        assertThat(Rig.release(two, Rig.granted(waits))).isTrue();
    }

    @Test
    @Tag("thorough")
    void theApplicationsClientBringsItsOwnTrust() {
        RedisClient redis = RedisClient.create("rediss://:s3cret@127.0.0.1:" + port);
        redis.setOptions(ClientOptions.builder()
                .sslOptions(
                        SslOptions.builder().trustManager(own.file().toFile()).build())
                .build());
        try (LockClient client = LockClient.builder(RedisStores.on(redis)).build()) {
            assertThat(client.lock("a").status().isHeld()).isFalse();
        } finally {
            redis.shutdown();
        }
    }

    @Test
    void anUntrustedCertificateIsRefused() {
        assertRefused("rediss://:s3cret@127.0.0.1:" + port, "certificate", "cacert=");
    }

    @Test
    @Tag("thorough")
    void anotherCertificateThanTheOneThatIsTrustedIsRefused() {
        assertRefused(trusting(elsewhere), "certificate", "cacert=");
    }

    @Test
    @Tag("thorough")
    void aCertificateOfAnotherServerIsRefused() {
        rig.close();
        rig = speaking(elsewhere);
        assertRefused(trusting(elsewhere), "certificate", "127.0.0.1");
    }

    @Test
    @Tag("thorough")
    void aFileThatHoldsNoCertificate() throws IOException {
        Path nothing = Files.writeString(folder.resolve("nothing.pem"), "nothing");
        assertThatThrownBy(() -> rig.open("rediss://:s3cret@127.0.0.1:" + port + "?cacert=" + nothing))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no certificate")
                .hasMessageContaining(nothing.toString());
    }

    @Test
    @Tag("thorough")
    void tlsThatIsMissing() {
        assertThat(failureOf("redis://:s3cret@127.0.0.1:" + port + "?timeout=2s"))
                .hasMessageContaining("write rediss://");
    }

    @Test
    @Tag("thorough")
    void tlsThatIsUnwanted() {
        assertThat(failureOf("rediss://:s3cret@127.0.0.1:" + rig.server.port() + "?timeout=2s"))
                .hasMessageContaining("write redis://");
    }

    @Test
    @Tag("thorough")
    void aWrongPasswordIsReportedOverTlsToo() {
        assertRefused(trusting(own).replace("s3cret", "wr0ng"), "password");
    }

    private String trusting(Certificate certificate) {
        return "rediss://:s3cret@127.0.0.1:" + port + "?cacert=" + certificate.file();
    }

    private void assertRefused(String url, String... hints) {
        assertThat(failureOf(url)).isInstanceOf(StoreRefusedException.class).hasMessageContainingAll(hints);
    }

    private Throwable failureOf(String url) {
        Throwable failure = catchThrowable(() -> rig.open(url));
        assertThat(failure).isNotNull();
        assertThat(failure).hasMessageContaining("127.0.0.1").hasMessageNotContainingAny("s3cret", "wr0ng");
        return failure;
    }
}
