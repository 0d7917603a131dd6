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

    /** Its revision: how often it was changed. */
    static long revision(EtcdServer server) {
        return EtcdServer.field(server.ask("kv/range", "{\"key\":\"YQ==\"}"), "revision");
    }

    /** How many leases it has. */
    static int leases(EtcdServer server) {
        return server.ask("lease/leases", "{}").split("\"ID\"", -1).length - 1;
    }

    /** Ends the lease of the first key that begins so. */
    static void revokeLease(EtcdServer server, String prefix) {
        String end = prefix.substring(0, prefix.length() - 1) + (char) (prefix.charAt(prefix.length() - 1) + 1);
        String found =
                server.ask("kv/range", "{\"key\":\"" + base64(prefix) + "\",\"range_end\":\"" + base64(end) + "\"}");
        server.ask("lease/revoke", "{\"ID\":" + EtcdServer.field(found, "lease") + "}");
    }

    static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
    }
}
