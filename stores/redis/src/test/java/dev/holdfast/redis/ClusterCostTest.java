package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Grant;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisCluster;
import dev.holdfast.testbed.RedisServer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The cost of locks to the nodes of a cluster, by their own count. */
class ClusterCostTest {
    @AutoClose
    private static RedisCluster cluster;

    @AutoClose
    private final Rig rig = new Rig();

    @BeforeAll
    static void startServers() {
        cluster = OrSkip.orSkip(() -> RedisCluster.start(3, 0));
    }

    @Test
    void aHandOverSendsOneMessageToEachOtherNode() {
        int handOvers = 20;
        RedisStore holder = rig.open(url());
        RedisStore waiter = rig.open(url(), Rig.NEVER);
        int before = messages();

        for (int i = 0; i < handOvers; i++) {
            Grant grant = Rig.hold(holder, "a");
            Asked waits = Rig.queue(waiter, "a");
            awaitSubscribed("a");
            Rig.release(holder, grant);
            Rig.release(waiter, Rig.granted(waits));
        }

        assertThat(messages() - before).isEqualTo(handOvers * (cluster.nodes().size() - 1));
    }

    @Test
    @Tag("thorough")
    void aNodeThatIsConnectedAgainIsAskedOnlyForItsOwnWaiters() {
        Map<RedisServer, String> names = onEachNode();
        RedisStore holder = rig.open(url());
        RedisStore waiter = rig.open(url(), Rig.NEVER);
        names.values().forEach(name -> {
            Rig.hold(holder, name);
            Rig.queue(waiter, name);
            awaitSubscribed(name);
        });
        Map<RedisServer, Integer> before = onEach(ClusterCostTest::scripts);
        RedisServer flapping = cluster.nodes().get(0);

        for (int i = 1; i <= 5; i++) {
            int sofar = before.get(flapping) + i;
            flapping.call("CLIENT", "KILL", "TYPE", "normal");
            Rig.until("it to be asked again", () -> scripts(flapping) >= sofar);
        }

        Map<RedisServer, Integer> after = onEach(ClusterCostTest::scripts);
        assertThat(cluster.nodes())
                .filteredOn(node -> node != flapping)
                .allMatch(node -> after.get(node).equals(before.get(node)));
    }

    // ---- helpers ----

    private static String url() {
        return "redis-cluster://" + cluster.hosts();
    }

    private static RedisServer node(String name) {
        return cluster.master(cluster.slot("holdfast:{" + name + "}"));
    }

    /** A name for each of the nodes. */
    private static Map<RedisServer, String> onEachNode() {
        Map<RedisServer, String> names = new LinkedHashMap<>();
        for (int i = 0; names.size() < cluster.nodes().size(); i++) {
            names.putIfAbsent(node("name" + i), "name" + i);
        }
        return names;
    }

    /** Awaits that the only waiter has reported its subscription, which is the last that it sends for now. */
    private static void awaitSubscribed(String name) {
        Rig.until(
                "it to subscribe",
                () -> Rig.hearing(node(name).call("ZRANGE", Rig.queue(name), "0", "-1", "WITHSCORES")) == 1);
    }

    /** How many messages the nodes have sent to each other since a client published something. */
    private static int messages() {
        return onEach(node -> number(
                        node.call("CLUSTER", "INFO"), "cluster_stats_messages_publish(shard)?_sent:(?<number>\\d+)"))
                .values()
                .stream()
                .mapToInt(Integer::intValue)
                .sum();
    }

    private static int scripts(RedisServer node) {
        return number(node.call("INFO", "commandstats"), "cmdstat_eval(sha)?:calls=(?<number>\\d+),.*");
    }

    /** The sum of the numbers in the lines that match. */
    private static int number(String lines, String pattern) {
        return lines.lines()
                .filter(line -> line.matches(pattern))
                .mapToInt(line -> Integer.parseInt(line.replaceAll(pattern, "${number}")))
                .sum();
    }

    private static Map<RedisServer, Integer> onEach(ToIntFunction<RedisServer> question) {
        return cluster.nodes().stream().collect(Collectors.toMap(node -> node, question::applyAsInt));
    }
}
