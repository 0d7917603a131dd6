package dev.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.testbed.Certificate;
import dev.holdfast.testbed.Ports;
import dev.holdfast.testbed.ZooKeeperServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server that speaks TLS, and clients that trust it or not, as the file says that {@code config} names. */
@Tag("thorough")
class TlsTest {
    /** ZooKeeper compares the name that the address resolves to. */
    private static final String NAMES = "dns:localhost,ip:127.0.0.1";

    /** For what is to fail; a first handshake takes longer on a busy machine. */
    private static final String BRIEF = "session=3s&timeout=2s";

    @TempDir
    static Path folder;

    private static int port;
    private static Certificate own;
    private static ZooKeeperServer server;

    @BeforeAll
    static void startServer() throws IOException {
        own = Certificate.selfSigned(folder, "own", NAMES);
        Path both = folder.resolve("both.pem");
        Files.writeString(both, Files.readString(own.key()) + Files.readString(own.file()));
        port = Ports.free();
        Map<String, String> settings = new HashMap<>(ZooKeeperServers.SETTINGS);
        settings.put("secureClientPort", Integer.toString(port));
        settings.put("serverCnxnFactory", "org.apache.zookeeper.server.NettyServerCnxnFactory");
        settings.put("ssl.keyStore.location", both.toString());
        settings.put("ssl.keyStore.type", "PEM");
        settings.put("ssl.clientAuth", "none");
        server = ZooKeeperServer.start(settings, ZooKeeperServers.FLAGS);
    }

    @AfterAll
    static void stopServer() {
        if (server != null) {
            server.close();
        }
    }

    @Test
    void aServerThatIsTrustedKeepsLocks() throws IOException, InterruptedException {
        try (LockClient client = LockClient.connect(url("session=15s&timeout=15s&config=" + trusting(own)));
                Hold hold = client.lock("secret").acquire()) {
            assertThat(hold.isValid()).isTrue();
        }
    }

    @Test
    @Tag("thorough")
    void aServerThatIsNotTrustedIsNotTalkedTo() throws IOException {
        Path config = trusting(Certificate.selfSigned(folder, "another", NAMES));
        assertThatThrownBy(() -> LockClient.connect(url(BRIEF + "&config=" + config)))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("zk://127.0.0.1:" + port);
    }

    @Test
    void aClientThatDoesNotSpeakTlsFailsInTime() {
        assertThatThrownBy(() -> LockClient.connect(url(BRIEF))).isInstanceOf(StoreUnavailableException.class);
    }

    private static Path trusting(Certificate trusted) throws IOException {
        String name = trusted.file().getFileName() + ".properties";
        return Files.writeString(folder.resolve(name), """
                zookeeper.client.secure=true
                zookeeper.clientCnxnSocket=org.apache.zookeeper.ClientCnxnSocketNetty
                zookeeper.ssl.trustStore.location=%s
                zookeeper.ssl.trustStore.type=PEM
                """.formatted(trusted.file()));
    }

    private static String url(String settings) {
        return "zk://127.0.0.1:" + port + "?tick=300ms&" + settings;
    }
}
