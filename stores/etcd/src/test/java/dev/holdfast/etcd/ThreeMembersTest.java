package dev.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.Loss;
import dev.holdfast.testbed.EtcdCluster;
import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.OrSkip;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Three members, of which one is killed, stopped, or cut off from the others while clients hold and wait. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ThreeMembersTest {
    /** A busy machine is in time to renew it. */
    private static final Duration LEASE = Duration.ofSeconds(9);

    private static final HoldOptions BRIEF = HoldOptions.defaults().lease(LEASE);
    private static final Duration LONG = Duration.ofSeconds(60);

    @AutoClose
    private static EtcdCluster cluster;

    private static int names;

    @BeforeAll
    static void startCluster() {
        cluster = OrSkip.orSkip(EtcdCluster::start);
    }

    @AfterEach
    void mend() {
        cluster.heal();
        for (int i = 0; i < 3; i++) {
            if (!cluster.member(i).process().isAlive()) {
                cluster.member(i).process().restart();
            }
        }
        cluster.leader();
    }

    @Test
    void aHoldOutlivesTheDeathOfTheLeaderAndAWaiterIsServedAfterIt() throws Exception {
        try (LockClient one = client(cluster.endpoints());
                LockClient two = client(cluster.endpoints())) {
            Hold hold = one.lock(name(), HoldOptions.defaults()).acquire();
            CompletableFuture<Hold> waiting =
                    two.lock(hold.name(), HoldOptions.defaults()).acquireAsync();
            await().atMost(LONG).until(() -> one.lock(hold.name()).status().waiting() == 1);

            cluster.member(cluster.leader()).process().kill();

            assertThat(waiting).isNotDone();
            assertThat(hold.isValid()).isTrue();
            hold.close();
            Hold next = waiting.get(60, TimeUnit.SECONDS);
            assertThat(next.token()).isGreaterThan(hold.token());
            next.close();
        }
    }

    /** It answers keep-alives and serializable reads for a while; what it answers proves nothing. */
    @Test
    void aHolderWhoseMemberIsCutOffFromTheMajorityIsNeverValidBesideAnother() throws Exception {
        rivalComesInWhileTheHolderIsAt(cluster.leader(), true);
    }

    @Test
    @Tag("thorough")
    void neitherIsOneAtAFollowerThatIsCutOff() throws Exception {
        rivalComesInWhileTheHolderIsAt(cluster.follower(), true);
    }

    /** Keep-alives that were sent while it stood still are answered when it goes on, before it hears of its successor. */
    @Test
    void neitherIsOneAtALeaderThatStoodStillForLongerThanTheLease() throws Exception {
        rivalComesInWhileTheHolderIsAt(cluster.leader(), false);
    }

    private void rivalComesInWhileTheHolderIsAt(int member, boolean cut) throws Exception {
        EtcdServer own = cluster.member(member);
        String others = cluster.member((member + 1) % 3).endpoint() + ","
                + cluster.member((member + 2) % 3).endpoint();
        try (LockClient holder = client(own.endpoint());
                LockClient rival = client(others)) {
            Hold hold = holder.lock(name(), BRIEF).acquire();
            CompletableFuture<Hold> waiting = rival.lock(hold.name(), BRIEF).acquireAsync();
            await().atMost(LONG).until(() -> rival.lock(hold.name()).status().waiting() == 1);
            if (cut) {
                cluster.cutOff(member);
            } else {
                own.process().stop();
            }
            CompletableFuture<Boolean> beside = waiting.thenApply(granted -> hold.isValid());
            if (!cut) {
                await().atMost(LONG).until(() -> !hold.isValid());
                own.process().cont();
            }

            assertThat(beside.get(60, TimeUnit.SECONDS))
                    .as("valid beside its rival")
                    .isFalse();
            assertThat(waiting.join().token()).isGreaterThan(hold.token());
            cluster.heal();
            assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
            waiting.join().close();
        }
    }

    /** Its first request waits at a leader that has no majority, and is refused once that one hears of its successor. */
    @Test
    void aClientConnectsThoughTheLeaderChanges() throws Exception {
        int leader = cluster.leader();
        String patient = Etcd.url(cluster.member(leader).endpoint(), "60s");
        cluster.cutOff(leader);
        CompletableFuture<LockClient> connecting = CompletableFuture.supplyAsync(() -> LockClient.connect(patient));
        await().atMost(LONG).until(() -> cluster.leader() != leader);
        assertThat(connecting).isNotDone();
        cluster.heal();
        try (LockClient client = connecting.get(60, TimeUnit.SECONDS)) {
            client.lock(name()).acquire().close();
        }
    }

    @Test
    @Tag("thorough")
    void aClientOfAllMembersGoesOnWhenOneStandsStill() throws Exception {
        int follower = cluster.follower();
        Duration lease = Duration.ofSeconds(15);
        try (LockClient client = client(cluster.endpoints())) {
            Hold hold = client.lock(name(), HoldOptions.defaults().lease(lease)).acquire();
            CompletableFuture<Loss> lost = new CompletableFuture<>();
            hold.onLost(lost::complete);
            cluster.member(follower).process().stop();
            try {
                await().during(lease.multipliedBy(2))
                        .atMost(lease.multipliedBy(3))
                        .until(hold::isValid);
            } finally {
                cluster.member(follower).process().cont();
            }
            assertThat(lost).isNotDone();
            hold.close();
        }
    }

    /**
     * A keep-alive that waits at a leader that stands still is answered when it goes on, before it hears that the others have
     * elected another, which counts from its election. Whether it is, is a race in that server.
     */
    @Test
    @Tag("thorough")
    void aKeepAliveThatAFormerLeaderAnswersMovesNoDeadline() throws Exception {
        Duration lease = Duration.ofSeconds(9);
        for (int round = 0; round < 3; round++) {
            int leader = cluster.leader();
            EtcdServer own = cluster.member(leader);
            String others = cluster.member((leader + 1) % 3).endpoint() + ","
                    + cluster.member((leader + 2) % 3).endpoint();
            try (LockClient holder = client(own.endpoint());
                    LockClient rival = client(others)) {
                HoldOptions options = HoldOptions.defaults().lease(lease);
                Hold hold = holder.lock(name(), options).acquire();
                CompletableFuture<Hold> waiting =
                        rival.lock(hold.name(), options).acquireAsync();
                await().atMost(LONG)
                        .until(() -> rival.lock(hold.name()).status().waiting() == 1);
                CompletableFuture<Boolean> beside = waiting.thenApply(granted -> hold.isValid());

                own.process().stop();
                Thread.sleep(lease.toMillis() * 3 / 4);
                own.process().cont();

                Thread.sleep(lease.toMillis() * 3 / 4); // the lease ends meanwhile, if no keep-alive counted
                closeWhatMayBeLost(hold);
                assertThat(beside.get(60, TimeUnit.SECONDS))
                        .as("valid beside its rival")
                        .isFalse();
                waiting.join().close();
            }
            cluster.leader();
        }
    }

    private static void closeWhatMayBeLost(Hold hold) {
        try {
            hold.close();
        } catch (HoldLostException expected) {
            assertThat(expected.loss().name()).isEqualTo(hold.name());
        }
    }

    private static LockClient client(String endpoints) {
        return LockClient.connect(Etcd.url(endpoints, "4s"));
    }

    private static String name() {
        return "cluster-" + names++;
    }
}
