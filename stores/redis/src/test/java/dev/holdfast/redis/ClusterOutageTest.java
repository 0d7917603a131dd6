package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.LockListener;
import dev.holdfast.StoreEvent;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisCluster;
import dev.holdfast.testbed.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One master of a cluster is gone and no replica replaces it, while the others go on serving their locks. */
@Tag("thorough")
class ClusterOutageTest {
    private static final Duration LEASE = Duration.ofSeconds(4);

    private final List<StoreEvent> events = new CopyOnWriteArrayList<>();
    private RedisCluster cluster;
    private LockClient client;
    private LockClient rival;
    private String gone;
    private String here;

    @BeforeEach
    void start() {
        cluster = OrSkip.orSkip(() -> RedisCluster.start(3, 0, "--cluster-require-full-coverage", "no"));
        client = connect(events);
        rival = connect(new CopyOnWriteArrayList<>());
        gone = "gone";
        here = IntStream.range(0, 1000)
                .mapToObj(i -> "here" + i)
                .filter(name -> master(name) != master(gone))
                .findFirst()
                .orElseThrow();
    }

    @AfterEach
    void stop() {
        if (cluster != null) {
            client.close();
            rival.close();
            cluster.close();
        }
    }

    @Test
    void aTimedWaitForALockWhoseMasterIsGoneSaysSo() throws Exception {
        Hold theirs = rival.lock(gone).acquire();
        CompletableFuture<Hold> beside = client.lock(gone).acquireAsync();
        waits(gone);

        master(gone).process().kill();
        CompletableFuture<?> timed = CompletableFuture.supplyAsync(() -> {
            try {
                return client.lock(gone).tryAcquire(Duration.ofSeconds(2));
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        Rig.until("the wait to end", () -> {
            client.lock(here).tryAcquire().orElseThrow().close();
            return timed.isDone();
        });

        assertThatThrownBy(timed::get)
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(StoreUnavailableException.class);
        assertThat(beside).isNotDone();
        theirs.close();
    }

    @Test
    void aWaitWithoutATimeEndsAfterTheOutageLimitThoughOtherMastersAnswer() throws Exception {
        Hold theirs = rival.lock(gone).acquire();
        rival.lock(here).acquire();
        CompletableFuture<Hold> inVain = client.lock(gone).acquireAsync();
        CompletableFuture<Hold> other = client.lock(here).acquireAsync();
        waits(gone);
        waits(here);

        master(gone).process().kill();

        Rig.until("the wait to end", () -> {
            client.lock(here).status();
            return inVain.isDone();
        });
        assertThatThrownBy(inVain::get)
                .hasCauseInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("outageLimit");
        assertThat(other).isNotDone();
        theirs.close();
    }

    @Test
    void listenersAreNotifiedThatAMasterIsGoneAndThatItIsBack() throws Exception {
        HoldOptions brief = HoldOptions.defaults().lease(LEASE);
        Hold lost = client.lock(gone, brief).acquire();
        Hold kept = client.lock(here, brief).acquire();
        RedisServer master = master(gone);

        master.process().kill();

        Rig.until("the hold to be lost", () -> !lost.isValid());
        assertThat(kept.isValid()).isTrue();
        assertThat(events).hasSize(1).first().isInstanceOf(StoreEvent.Unreachable.class);
        assertThat(((StoreEvent.Unreachable) events.get(0)).reason()).contains(Integer.toString(master.port()));

        master.process().restart();

        Rig.until("its locks to be had", () -> granted(gone));
        Rig.until("the end to be reported", () -> events.size() == 2);
        assertThat(events.get(1)).isInstanceOf(StoreEvent.Reachable.class);
        assertThat(kept.isValid()).isTrue();
    }

    @Test
    void theReturnOfAMasterIsReportedThoughNoClaimWaitsForItsLocks() throws Exception {
        rival.lock(gone).acquire();
        CompletableFuture<Hold> inVain = client.lock(gone).acquireAsync();
        waits(gone);
        RedisServer master = master(gone);
        master.process().kill();
        Rig.until("the wait to end", inVain::isDone);
        assertThat(events).hasSize(1);

        master.process().restart();

        Rig.until("the end to be reported", () -> events.size() == 2);
        assertThat(events.get(1)).isInstanceOf(StoreEvent.Reachable.class);
    }

    @Test
    @Tag("thorough") // half a minute of leases that run out
    void aHoldIsRenewedThoughTheMasterOfAnotherGivesNoAnswerForLongerThanItsLease() throws Exception {
        HoldOptions brief = HoldOptions.defaults().lease(LEASE);
        try (LockClient slow = connect("8s", new CopyOnWriteArrayList<>())) {
            Hold lost = slow.lock(gone, brief).acquire();
            Hold kept = slow.lock(here, brief).acquire();

            master(gone).process().kill();
            Rig.until("the hold to be lost", () -> !lost.isValid());

            assertThat(kept.remaining()).isGreaterThan(LEASE.dividedBy(4));
        }
    }

    @Test
    void aMasterThatRefusesRenewalsIsNotReportedAsAway() throws Exception {
        HoldOptions brief = HoldOptions.defaults().lease(LEASE);
        Hold refused = client.lock(gone, brief).acquire();
        Hold kept = client.lock(here, brief).acquire();

        permit("-@scripting");
        Rig.until("the hold to be lost", () -> !refused.isValid());
        permit("+@all");

        assertThat(kept.isValid()).isTrue();
        assertThat(events).isEmpty();
    }

    private void permit(String what) {
        master(gone).call("ACL", "SETUSER", "default", what);
    }

    private boolean granted(String name) {
        try {
            return client.lock(name).tryAcquire().isPresent();
        } catch (StoreUnavailableException notYet) {
            return false;
        }
    }

    private void waits(String name) {
        Rig.until("it to wait", () -> rival.lock(name).status().waiting() == 1);
    }

    private LockClient connect(List<StoreEvent> events) {
        return connect("1s", events);
    }

    private LockClient connect(String timeout, List<StoreEvent> events) {
        return LockClient.builder("redis-cluster://" + cluster.hosts() + "?timeout=" + timeout)
                .outageLimit(Duration.ofSeconds(3))
                .listener(new LockListener() {
                    @Override
                    public void onStoreUnreachable(StoreEvent.Unreachable event) {
                        events.add(event);
                    }

                    @Override
                    public void onStoreReachable(StoreEvent.Reachable event) {
                        events.add(event);
                    }
                })
                .build();
    }

    private RedisServer master(String name) {
        return cluster.master(cluster.slot("holdfast:{" + name + "}"));
    }
}
