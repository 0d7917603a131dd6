package dev.holdfast.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreFence;
import dev.holdfast.tck.FrozenLayout;
import dev.holdfast.tck.FrozenLayout.Clock;
import dev.holdfast.tck.FrozenSessionsContract;
import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.Started;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.LeaseOption;
import io.etcd.jetcd.options.PutOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;

/** The layout of 0.1.0, written by a client of jetcd. */
class FrozenLayoutTest extends FrozenSessionsContract {
    private static final Pattern LEASE = Pattern.compile("lease grant (\\d+) (\\S+)");
    private static final Pattern PUT = Pattern.compile("put (?:--lease=(\\S+) )?(\\S+) \"(.*)\"");
    private static final String SESSION = "session";

    @Started
    private static EtcdServer server;

    @AutoClose
    private static Client witness;

    /** By the names that the commands give them. */
    private final Map<String, Long> leases = new HashMap<>();

    @BeforeAll
    static void connect() {
        witness = Client.builder().endpoints("http://" + server.endpoint()).build();
    }

    @Override
    protected FrozenLayout layout() {
        return FrozenLayout.read("0.1.0/etcd.txt", Map.of("now", Clock.millis()));
    }

    /** What the commands call the leases. */
    @Override
    protected Map<String, String> own() {
        return Map.of(SESSION, SESSION, "daily", "daily");
    }

    @Override
    protected void empty() throws Exception {
        witness.getKVClient()
                .delete(
                        Keys.bytes("/holdfast/"),
                        DeleteOption.builder().isPrefix(true).build())
                .get();
    }

    @Override
    protected void run(String command) throws Exception {
        Matcher lease = LEASE.matcher(command);
        if (lease.matches()) {
            long seconds = Long.parseLong(lease.group(1));
            leases.put(
                    lease.group(2),
                    witness.getLeaseClient().grant(seconds).get().getID());
            return;
        }
        Matcher put = PUT.matcher(command);
        if (!put.matches()) {
            throw new IllegalArgumentException(command);
        }
        String of = put.group(1) == null ? "" : put.group(1);
        witness.getKVClient()
                .put(
                        Keys.bytes(put.group(2).replace("\\0", "\0")),
                        Keys.bytes(put.group(3)),
                        PutOption.builder()
                                .withLeaseId(leases.getOrDefault(of, 0L))
                                .build())
                .get();
    }

    @Override
    protected List<String> stored() throws Exception {
        List<String> commands = new ArrayList<>();
        TreeSet<Long> used = new TreeSet<>();
        for (KeyValue each : witness.getKVClient()
                .get(
                        Keys.bytes("/holdfast/"),
                        GetOption.builder().isPrefix(true).build())
                .get()
                .getKvs()) {
            long lease = each.getLease();
            String put = "put " + (lease == 0 ? "" : "--lease=" + lease + " ")
                    + each.getKey().toString(UTF_8).replace("\0", "\\0") + " \""
                    + each.getValue().toString(UTF_8) + "\"";
            for (long version = 1; version <= each.getVersion(); version++) {
                commands.add(put);
            }
            used.add(lease);
        }
        used.remove(0L);
        for (long lease : used) {
            long seconds = witness.getLeaseClient()
                    .timeToLive(lease, LeaseOption.DEFAULT)
                    .get()
                    .getGrantedTTL();
            commands.add("lease grant " + seconds + " " + lease);
        }
        return commands;
    }

    @Override
    protected void end(Grant grant) throws Exception {
        Long session = leases.remove(SESSION);
        if (session != null) {
            witness.getLeaseClient().revoke(session).get();
        }
    }

    @Override
    protected Store open(StoreContext context) {
        return new EtcdStoreProvider().open(url(), context);
    }

    @Override
    protected StoreFence fence() {
        return new EtcdStoreProvider().openFence(url(), Optional.empty());
    }

    private static String url() {
        return Etcd.url(server.endpoint());
    }
}
