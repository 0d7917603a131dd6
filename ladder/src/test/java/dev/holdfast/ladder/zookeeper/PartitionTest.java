package dev.holdfast.ladder.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ladder.LadderCase;
import dev.holdfast.ladder.zookeeper.Contest.Overlaps;
import dev.holdfast.testbed.TcpProxy;
import dev.holdfast.testbed.ZooKeeperEnsemble;
import dev.holdfast.testbed.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Cut off from who decides on its session, a holder must know that it holds no more before its rival has the lock.
 * Curator's mutex beside it, whose holder heeds what its listener is told. {@code -Dpartitions=20} tries twenty times.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
@Tag("thorough") // it waits for sessions that end
class PartitionTest extends LadderCase {
    private static final int TIMES = Integer.getInteger("partitions", 1);
    /** As short as sessions of three seconds, and a follower that waits longer than that for its leader, allow. */
    private static final Map<String, String> QUICK = Map.of("tickTime", "300", "syncLimit", "14");

    private static final String[] FLAGS = {
        "-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dzookeeper.forceSync=no"
    };
    /** Of ticks and pings. */
    private static final Duration PHASES = Duration.ofMillis(300);

    private final List<Overlaps> found = new ArrayList<>();

    @Test
    void theClientIsSilentlyCutOff() throws Exception {
        ZooKeeperServer server = keep(ZooKeeperServer.start(QUICK, FLAGS));
        List<TcpProxy> proxies = new ArrayList<>();
        List<Contest> contests = new ArrayList<>();
        for (int i = 0; i < TIMES; i++) {
            TcpProxy proxy = keep(TcpProxy.to(server.port()));
            Contest contest = keep(new Contest("silent-" + i, "127.0.0.1:" + proxy.port(), server.connectString()));
            contest.begin();
            proxies.add(proxy);
            contests.add(contest);
        }
        for (TcpProxy proxy : proxies) {
            atAnyMoment();
            proxy.toServer().hold();
            proxy.toClient().hold();
        }
        for (Contest contest : contests) {
            found.add(contest.overlaps());
        }
        proxies.forEach(TcpProxy::heal);
        report("the client is silently cut off");
        assertThat(found).extracting(Overlaps::holdfast).containsOnly(Duration.ZERO);
        assertThat(found).extracting(Overlaps::untilLost).allMatch(overlap -> overlap.compareTo(Duration.ZERO) > 0);
    }

    @Test
    void theFollowerIsCutOffAndGoesOnServing() throws Exception {
        ZooKeeperEnsemble ensemble = keep(ZooKeeperEnsemble.start(QUICK, FLAGS));
        for (int i = 0; i < TIMES; i++) {
            int leader = ensemble.leader();
            int follower = ensemble.follower();
            String rivals = ensemble.server(leader).connectString();
            try (Contest contest =
                    new Contest("cut-" + i, ensemble.server(follower).connectString(), rivals)) {
                contest.begin();
                atAnyMoment();
                ensemble.cutOff(follower);
                found.add(contest.overlaps());
                ensemble.heal();
            }
            if (i + 1 < TIMES) {
                ensemble.awaitAll();
            }
        }
        report("the follower is cut off and goes on serving");
        assertThat(found).extracting(Overlaps::holdfast).containsOnly(Duration.ZERO);
        assertThat(found).extracting(Overlaps::untilLost).allMatch(overlap -> overlap.compareTo(Duration.ZERO) > 0);
    }

    /** Of the ticks and pings. */
    private static void atAnyMoment() throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(ThreadLocalRandom.current().nextLong(PHASES.toNanos()));
    }

    private void report(String fault) {
        System.out.printf("%s, %d times:%n", fault, found.size());
        report("Holdfast", Overlaps::holdfast);
        report("Curator's mutex, given up at SUSPENDED", Overlaps::untilSuspended);
        report("Curator's mutex, given up at LOST", Overlaps::untilLost);
    }

    private void report(String holder, Function<Overlaps, Duration> which) {
        List<Duration> overlaps = found.stream()
                .map(which)
                .filter(overlap -> !overlap.isZero())
                .sorted()
                .toList();
        System.out.printf("  %-40s %2d overlaps", holder, overlaps.size());
        if (!overlaps.isEmpty()) {
            System.out.printf(
                    ", %.1f to %.1f s",
                    overlaps.get(0).toMillis() / 1e3,
                    overlaps.get(overlaps.size() - 1).toMillis() / 1e3);
        }
        System.out.println();
    }
}
