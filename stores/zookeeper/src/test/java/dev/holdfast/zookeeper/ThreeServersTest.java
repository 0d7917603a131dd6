package dev.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.LockClient;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.testbed.ZooKeeperEnsemble;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Three real servers, of which one fails: the effect on holds and waiters. */
@Tag("thorough")
class ThreeServersTest {
    private static final Duration TIME_LIMIT = Duration.ofSeconds(60);

    @AutoClose
    private static final ZooKeeperEnsemble ensemble =
            ZooKeeperEnsemble.start(ZooKeeperServers.SETTINGS, ZooKeeperServers.FLAGS);

    /** The effects of an earlier test on a server are over: with one missing, another's failure would stop all. */
    @BeforeEach
    void awaitAll() {
        ensemble.awaitAll();
    }

    @Test
    void aKilledLeaderLeavesHoldAndLineAsTheyWere() throws Exception {
        try (LockClient client = connect(ensemble.connectString(), "40s");
                LockClient second = connect(ensemble.connectString(), "40s")) {
            Hold hold = client.lock("killed").acquire();
            CompletableFuture<Hold> next = queue(second, "killed");
            int leader = ensemble.leader();

            ensemble.server(leader).process().kill();
            await().atMost(TIME_LIMIT).until(() -> ensemble.leader() != leader);

            await().atMost(TIME_LIMIT).until(hold::isValid);
            assertThat(next).isNotDone();
            hold.close();
            Hold granted = next.get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS);
            assertThat(granted.token()).isGreaterThan(hold.token());
            granted.close();
        } finally {
            restartTheDead();
        }
    }

    @Test
    void aStoppedLeaderEndsTheHoldOfItsClientBeforeARivalHasIt() throws Exception {
        int leader = ensemble.leader();
        try (LockClient client = connect(ensemble.server(leader).connectString(), "5s");
                LockClient rival = connect(ensemble.connectString(), "5s")) {
            Hold hold = client.lock("stopped").acquire();
            CompletableFuture<Hold> next = queue(rival, "stopped");

            ensemble.server(leader).process().stop();

            assertNeverBoth(hold, next);
        } finally {
            ensemble.server(leader).process().cont();
        }
    }

    @Test
    void aFollowerCutOffFromTheLeaderEndsTheHoldItServesBeforeARivalHasIt() throws Exception {
        cutAFollowerOff();
    }

    @RepeatedTest(3)
    @Tag("thorough")
    void anyFollowerCutOffAtAnyMomentDoesSo() throws Exception {
        cutAFollowerOff();
    }

    private static void cutAFollowerOff() throws Exception {
        int follower = ensemble.follower();
        int leader = ensemble.leader();
        try (LockClient client = connect(ensemble.server(follower).connectString(), "5s");
                LockClient rival = connect(ensemble.server(leader).connectString(), "5s")) {
            Hold hold = client.lock("cut").acquire();
            CompletableFuture<Hold> next = queue(rival, "cut");

            ensemble.cutOff(follower);

            assertNeverBoth(hold, next);
        } finally {
            ensemble.heal();
        }
    }

    /** It takes its followers for slow, and answers reads and {@code sync}, long after they have elected another. */
    @Test
    void aLeaderWhomTheOthersHaveLeftProvesNothingToTheHolderItServes() throws Exception {
        Map<String, String> settings = new HashMap<>(ZooKeeperServers.SETTINGS);
        settings.put("syncLimit", "40");
        try (ZooKeeperEnsemble own = ZooKeeperEnsemble.start(settings, ZooKeeperServers.FLAGS)) {
            int leader = own.leader();
            String others = IntStream.range(0, 3)
                    .filter(each -> each != leader)
                    .mapToObj(each -> own.server(each).connectString())
                    .collect(Collectors.joining(","));
            try (LockClient client = connect(own.server(leader).connectString(), "5s");
                    LockClient rival = connect(others, "5s")) {
                Hold hold = client.lock("left").acquire();
                CompletableFuture<Hold> next = queue(rival, "left");

                own.cutOff(leader);
                for (int each = 0; each < 3; each++) {
                    if (each != leader) {
                        own.server(each).process().kill();
                        own.server(each).process().restart();
                    }
                }

                assertNeverBoth(hold, next);
            }
        }
    }

    @Test
    void withoutAMajorityRequestsFailInTime() throws Exception {
        try (LockClient client = connect(ensemble.connectString(), "15s")) {
            client.lock("majority").acquire().close();
            int leader = ensemble.leader();
            int follower = ensemble.follower();
            ensemble.server(leader).process().stop();
            ensemble.server(follower).process().stop();
            try {
                assertThatThrownBy(() -> client.lock("majority").tryAcquire())
                        .isInstanceOf(StoreUnavailableException.class);
                assertThatThrownBy(() -> connectOnce(ensemble.connectString(), "15s"))
                        .isInstanceOf(StoreUnavailableException.class);
            } finally {
                ensemble.server(leader).process().cont();
                ensemble.server(follower).process().cont();
            }
        }
    }

    @Test
    void aServerThatHasLostTheOthersAndIsForReadingOnlyIsRefusedInTime() throws InterruptedException {
        String[] readable = Arrays.copyOf(ZooKeeperServers.FLAGS, ZooKeeperServers.FLAGS.length + 1);
        readable[ZooKeeperServers.FLAGS.length] = "-Dreadonlymode.enabled=true";
        try (ZooKeeperEnsemble own = ZooKeeperEnsemble.start(ZooKeeperServers.SETTINGS, readable);
                LockClient client = connect(own.connectString(), "5s")) {
            client.lock("read-only").acquire().close();
            own.server(0).process().kill();
            own.server(1).process().kill();
            await().atMost(TIME_LIMIT)
                    .ignoreException(UncheckedIOException.class) // it closes all connections when it misses the others
                    .until(() -> own.server(2).command("mntr").contains("read-only"));

            long asked = System.nanoTime();
            assertThatThrownBy(() -> client.lock("read-only").tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class);
            assertThatThrownBy(() -> connectOnce(own.server(2).connectString(), "5s"))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("a majority of its servers");
            assertThat(Duration.ofNanos(System.nanoTime() - asked)).isLessThan(Duration.ofSeconds(10));
        }
    }

    private static void assertNeverBoth(Hold hold, CompletableFuture<Hold> next) throws Exception {
        boolean overlapped = next.thenApply(granted -> hold.isValid()).get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS);
        assertThat(overlapped).as("still valid when the rival had it").isFalse();
        assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
        assertThat(next.join().token()).isGreaterThan(hold.token());
        next.join().close();
    }

    private static CompletableFuture<Hold> queue(LockClient client, String name) {
        CompletableFuture<Hold> next = client.lock(name).acquireAsync();
        await().atMost(TIME_LIMIT)
                .ignoreException(StoreUnavailableException.class)
                .until(() -> client.lock(name).status().waiting() == 1);
        return next;
    }

    /** A server that was cut off says that it follows until it notices; a client connects when it serves again. */
    private static LockClient connect(String servers, String session) {
        return await().atMost(TIME_LIMIT)
                .ignoreExceptionsInstanceOf(StoreUnavailableException.class)
                .until(() -> connectOnce(servers, session), client -> true);
    }

    private static LockClient connectOnce(String servers, String session) {
        return LockClient.connect("zk://" + servers + "?timeout=2s&tick=300ms&session=" + session);
    }

    private static void restartTheDead() {
        for (int i = 0; i < 3; i++) {
            if (!ensemble.server(i).process().isAlive()) {
                ensemble.server(i).process().restart();
            }
        }
    }
}
