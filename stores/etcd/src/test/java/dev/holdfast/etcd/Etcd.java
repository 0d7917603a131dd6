package dev.holdfast.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.testbed.EtcdServer;
import java.time.Duration;
import java.util.Base64;
import org.awaitility.Awaitility;

/** What these tests ask of a server beside the store. */
final class Etcd {
    static {
        Awaitility.setDefaultPollDelay(Duration.ZERO);
        Awaitility.setDefaultPollInterval(Duration.ofMillis(10));
    }

    private Etcd() {}

    /** How many keys it has. */
    static long keys(EtcdServer server) {
        return EtcdServer.field(
                server.ask(
                        "kv/range",
                        "{\"key\":\"" + base64("\0") + "\",\"range_end\":\"" + base64("\0") + "\","
                                + "\"count_only\":true}"),
                "count");
    }

    static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
    }
}
