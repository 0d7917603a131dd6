package dev.holdfast.zookeeper;

import dev.holdfast.LockClient;
import dev.holdfast.tck.SecretsContract;
import dev.holdfast.testbed.ZooKeeperServer;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.TestInstance;

/** A log-in at the wrong place of a URL is read as a port or as a path. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SecretsTest extends SecretsContract {
    @AutoClose
    private final ZooKeeperServer server = ZooKeeperServer.start();

    @Override
    protected List<String> urls() {
        String servers = "127.0.0.1:" + server.port();
        try (LockClient owner = LockClient.connect("zk://owner:of-the-nodes@" + servers)) {
            owner.lock("secrets").tryAcquire().orElseThrow().close();
        }
        return List.of(
                "zk://me:SECRET@127.0.0.1:1?timeout=100ms",
                "zk://me:ENCODED@127.0.0.1:1,127.0.0.1:2/locks?timeout=100ms",
                "zk://me:ENCODED@127.0.0.1:1,me:ENCODED@127.0.0.1:2?timeout=100ms",
                "zk://ENCODED@127.0.0.1:1?timeout=100ms",
                "zk://me:ENCODED@127.0.0.1:xSECRET?timeout=100ms",
                "zk://me:ENCODED@127.0.0.1:1/a//b?timeout=100ms",
                "zk://me:12/SECRET@127.0.0.1:1?timeout=100ms",
                "zk://me:ENCODED@127.0.0.1:1?session=0",
                "zk://me:ENCODED@127.0.0.1:1?nosuch=1",
                "zk://127.0.0.1:1?password=SECRET",
                "zk://127.0.0.1:1#SECRET",
                "zk:me:SECRET@127.0.0.1:1",
                "zk://127.0.0.1:1?timeout=100ms",
                "zk://me:ENCODED@" + servers + "?timeout=2s",
                "zk://me:ENCODED@" + servers + "/nosuch?timeout=2s",
                "zk://me:ENCODED@" + servers + "?config=nosuch",
                "zk://" + servers + "?timeout=2s");
    }
}
