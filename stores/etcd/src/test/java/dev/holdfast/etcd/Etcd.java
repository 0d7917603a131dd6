package dev.holdfast.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.EtcdServer;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import org.awaitility.Awaitility;

/** What these tests ask of a server beside the store. */
final class Etcd {
    static {
        Awaitility.setDefaultPollDelay(Duration.ZERO);
        Awaitility.setDefaultPollInterval(Duration.ofMillis(10));
    }

    private static boolean loaded;

    private Etcd() {}

    /** A URL of servers, such as {@code 127.0.0.1:2379}, that answer within a limit which no busy machine reaches. */
    static String url(String servers) {
        return url(servers, "20s");
    }

    /** The same for servers that stand still at times. */
    static String url(String servers, String timeout) {
        load(servers);
        return "etcd://" + servers + "?timeout=" + timeout;
    }

    /** A JVM that has just started loads gRPC, on a busy machine for many seconds: no server's delay, and counted as none. */
    static synchronized void load(String servers) {
        if (!loaded) {
            Duration limit = Duration.ofMinutes(2);
            try (Client client = EtcdUrl.parse("etcd://" + servers + "?timeout=2m", Optional.empty())
                            .connect();
                    KitTime time = new KitTime()) {
                Requests requests = new Requests(client, time, limit, new Errors("etcd"));
                Op read = Op.get(new Keys("").layout(), GetOption.DEFAULT);
                Object unused = requests.read(List.of(read))
                        .thenCompose(done -> requests.grantLease(limit.toSeconds()))
                        .thenCompose(granted -> requests.keepAlive(granted.getID(), limit))
                        .thenCompose(kept -> requests.revoke(kept.getID()))
                        .join();
            }
            loaded = true;
        }
    }

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
