package dev.holdfast.zookeeper;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreFence;
import dev.holdfast.tck.FrozenLayout;
import dev.holdfast.tck.FrozenSessionsContract;
import dev.holdfast.testbed.ZooKeeperServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZKUtil;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AutoClose;

/** The layout of 0.1.0, written by a client of ZooKeeper's own. */
class FrozenLayoutTest extends FrozenSessionsContract {
    private static final Pattern COMMAND = Pattern.compile("(create(?: -e -s)?|set) (\\S+) \"(.*)\"");
    private static final int SESSION = 30_000;
    private static final int PLACE_DIGITS = 10;

    @AutoClose
    private static final ZooKeeperServer server = ZooKeeperServers.withoutSweeper();

    @AutoClose
    private ZooKeeper witness;

    @Override
    protected FrozenLayout layout() {
        return FrozenLayout.read("0.1.0/zookeeper.txt", Map.of());
    }

    @Override
    protected void empty() throws Exception {
        witness = new ZooKeeper(server.connectString(), SESSION, event -> {});
        if (witness.exists("/holdfast", false) != null) {
            ZKUtil.deleteRecursive(witness, "/holdfast");
        }
    }

    @Override
    protected void run(String command) throws Exception {
        Matcher parts = COMMAND.matcher(command);
        if (!parts.matches()) {
            throw new IllegalArgumentException(command);
        }
        String path = parts.group(2);
        byte[] text = parts.group(3).getBytes(UTF_8);
        if (parts.group(1).equals("set")) {
            witness.setData(path, text, -1);
            return;
        }
        boolean stays = parts.group(1).equals("create");
        witness.create(
                path,
                text,
                ZooDefs.Ids.OPEN_ACL_UNSAFE,
                stays ? CreateMode.PERSISTENT : CreateMode.EPHEMERAL_SEQUENTIAL);
    }

    @Override
    protected List<String> stored() throws Exception {
        List<String> commands = new ArrayList<>();
        for (String path : ZKUtil.listSubTreeBFS(witness, "/holdfast")) {
            Stat stat = new Stat();
            String text = " \"" + new String(witness.getData(path, false, stat), UTF_8) + "\"";
            if (stat.getEphemeralOwner() == 0) {
                commands.add("create " + path + text);
                continue;
            }
            commands.add("create -e -s " + path.substring(0, path.length() - PLACE_DIGITS) + text);
            if (stat.getVersion() > 0) {
                commands.add("set " + path + text);
            }
        }
        return commands;
    }

    @Override
    protected void end(Grant grant) throws InterruptedException {
        witness.close();
    }

    @Override
    protected Store open(StoreContext context) {
        return new ZooKeeperStoreProvider().open(url(), context);
    }

    @Override
    protected StoreFence fence() {
        return new ZooKeeperStoreProvider().openFence(url(), Optional.empty());
    }

    private static String url() {
        return ZooKeeperServers.url(server, SESSION + "ms");
    }
}
