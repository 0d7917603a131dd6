package dev.holdfast.zookeeper;

import dev.holdfast.testbed.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;

/** Servers for these tests: of a short tick, so that sessions may be short, and with a sweeper that does not dawdle. */
final class ZooKeeperServers {
    static final String[] FLAGS = {
        "-Xmx128m",
        "-XX:TieredStopAtLevel=1", // soon started and soon ended
        "-XX:+UseSerialGC",
        "-Dzookeeper.forceSync=no", // no test cuts the power
        "-Dznode.container.checkIntervalMs=500",
        "-Dznode.container.maxPerMinute=10000000"
    };

    static final Map<String, String> SETTINGS = Map.of("tickTime", "300", "maxSessionTimeout", "60000");

    static {
        // It polls every tenth of a second, and not at once: most of what is awaited here has happened by then.
        Awaitility.setDefaultPollDelay(Duration.ZERO);
        Awaitility.setDefaultPollInterval(Duration.ofMillis(10));
        Awaitility.setDefaultTimeout(Duration.ofSeconds(60)); // on a busy machine ten are few
    }

    private ZooKeeperServers() {}

    static ZooKeeperServer quick() {
        return ZooKeeperServer.start(SETTINGS, FLAGS);
    }

    /** One that leaves the empty nodes of locks where they are: to make them again takes packets. */
    static ZooKeeperServer withoutSweeper() {
        List<String> flags = new ArrayList<>(List.of(FLAGS));
        flags.add("-Dznode.container.checkIntervalMs=3600000"); // of two, the last one counts
        return ZooKeeperServer.start(SETTINGS, flags.toArray(String[]::new));
    }

    /** As a client names it: sessions that outlast a stopped machine's hiccups, requests that fail before they end. */
    static String url(ZooKeeperServer server) {
        return url(server, "4s");
    }

    static String url(ZooKeeperServer server, String session) {
        return url(server.connectString(), session);
    }

    static String url(String servers, String session) {
        return "zk://" + servers + "?timeout=2s&tick=300ms&session=" + session;
    }

    /** For stores on a client that is lent. */
    static ZooKeeperOptions options() {
        return ZooKeeperOptions.defaults().tick(Duration.ofMillis(300));
    }

    /** One of the figures that a server reports of itself. */
    static long figure(ZooKeeperServer server, String name) {
        return figure(server.command("mntr"), name);
    }

    static long figure(String figures, String name) {
        return figures.lines()
                .filter(line -> line.startsWith(name + "\t"))
                .mapToLong(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf('\t') + 1)))
                .findFirst()
                .orElseThrow(() -> new AssertionError("mntr has no " + name));
    }
}
