package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockClient;
import dev.holdfast.Once;
import dev.holdfast.OnceOptions;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.Ports;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.RespConnection;
import dev.holdfast.testbed.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Grants that count when replicas have them. */
class AcksTest {
    private final Rig rig = new Rig();
    private TcpProxy link;
    private RedisServer replica;

    @BeforeEach
    void startReplica() {
        link = TcpProxy.to(rig.server.port());
        replica = OrSkip.orSkip(() -> RedisServer.start("--replicaof", "127.0.0.1", Integer.toString(link.port())));
        // A replica that is online confirms what it had before, and other writes from up to a second later on.
        try (RespConnection redis = rig.server.connect()) {
            Rig.until("the replica to be online", () -> confirmsAWrite(redis));
            Rig.until("it to confirm a new write", () -> confirmsAWrite(redis));
            redis.call("DEL", "first");
        }
        rig.commands(); // so that only those of the test are counted
    }

    private static boolean confirmsAWrite(RespConnection redis) {
        redis.call("SET", "first", "1");
        return redis.call("WAIT", "1", "100").equals("1");
    }

    @AfterEach
    void stop() {
        rig.close();
        if (replica != null) {
            replica.close();
        }
        link.close();
    }

    @Test
    void unlessAskedForNothingWaits() {
        RedisStore store = rig.open();
        Grant grant = Rig.hold(store, "a");
        Rig.renew(store, grant);
        Rig.release(store, grant);
        assertThat(rig.commands()).doesNotContainKey("wait");
    }

    @Test
    void aGrantThatTheReplicaConfirmsIsThereToo() {
        RedisStore store = rig.open(acks(1));

        Grant grant = Rig.hold(store, "a");

        assertThat(replica.call("GET", "holdfast:{a}")).contains(grant.id().value());
        assertThat(Rig.renew(store, grant)).isEqualTo(Renewal.Verdict.HELD);
        assertThat(Rig.release(store, grant)).isTrue();
        assertThat(rig.commands()).containsEntry("wait", 2);
    }

    @Test
    void aTryThatTooFewReplicasConfirmFailsAndLeavesNothing() {
        try (LockClient client = LockClient.connect(acks(1));
                LockClient other = LockClient.connect(rig.server.uri())) {
            client.lock("a").tryAcquire().orElseThrow().close();
            link.toClient().hold();

            assertThatThrownBy(() -> client.lock("b").tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("only 0 of 1 replicas");

            assertThat(link.toClient().traffic().kept()).as("the fault bites").isPositive();
            Rig.until("it to be withdrawn", () -> !other.lock("b").status().isHeld());
        }
    }

    @Test
    @Tag("thorough")
    void moreReplicasThanThereAreConfirmNothing() {
        assertThatThrownBy(() -> Rig.attempt(rig.open(acks(2)), "a"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("only 1 of 2 replicas");
    }

    @Test
    void aRenewalThatTooFewReplicasConfirmMovesNoDeadline() {
        RedisStore store = rig.open(acks(1));
        Grant grant = Rig.hold(store, "a");
        link.toClient().hold();

        assertThatThrownBy(() -> Rig.renew(store, grant)).isInstanceOf(StoreUnavailableException.class);

        link.heal();
        Rig.until("it to be confirmed again", () -> renewed(store, grant));
    }

    private static boolean renewed(RedisStore store, Grant grant) {
        try {
            return Rig.renew(store, grant) == Renewal.Verdict.HELD;
        } catch (StoreUnavailableException notYet) {
            return false;
        }
    }

    @Test
    void aWaitThatIsGrantedButNotConfirmedGoesOnUntilItIs() {
        RedisStore store = rig.open(acks(1));
        Grant grant = Rig.hold(store, "a");
        RedisStore second = rig.open(acks(1));
        var waits = Rig.queue(second, "a");
        Rig.until(
                "it to subscribe",
                () -> rig.call("PUBSUB", "CHANNELS", "holdfast:*").contains("client"));
        link.toClient().hold();
        Rig.release(store, grant);
        Rig.until("the offer to be taken", () -> rig.call("GET", "holdfast:{a}").contains(" host "));
        assertThat(waits.answer()).isNotDone();

        link.heal();

        assertThat(Rig.granted(waits).number()).isGreaterThan(grant.number());
    }

    @Test
    @Tag("thorough")
    void whatNeedsNoConfirmationDoesNotWaitForIt() {
        RedisStore store = rig.open(rig.server.uri() + "?acks=1&timeout=20s");
        Rig.hold(store, "a");
        link.toClient().hold();
        CompletableFuture<Optional<Grant>> claim =
                Asked.of(store, Rig.claim("b")).answer();
        Rig.until("it to be under way", () -> !rig.call("GET", "holdfast:{b}").equals("(nil)"));

        assertThat(Rig.get(store.status("a")).isHeld()).isTrue();
        assertThat(Rig.get(store.list(""))).hasSize(2);
        assertThat(claim).isNotDone();

        link.heal();
        assertThat(Rig.get(claim)).isPresent();
    }

    @Test
    @Tag("thorough")
    void manyClaimsShareTheirConfirmations() {
        RedisStore store = rig.open(acks(1));
        Rig.hold(store, "first");
        rig.commands();
        List<CompletableFuture<Optional<Grant>>> claims = java.util.stream.IntStream.range(0, 200)
                .mapToObj(i -> Asked.of(store, Rig.claim("many:" + i)).answer())
                .toList();
        assertThat(claims).allMatch(claim -> Rig.get(claim).isPresent());
        assertThat(rig.commands().get("wait")).isLessThan(200);
    }

    /** WAIT on the next connection would count replicas that have nothing of the writes on the first. */
    @Test
    void aGrantWhoseConnectionBreaksBeforeItIsConfirmedIsNotTakenForConfirmed() {
        try (TcpProxy wire = TcpProxy.to(rig.server.port())) {
            RedisStore store = rig.open("redis://127.0.0.1:" + wire.port() + "?acks=1&timeout=4s");
            Rig.hold(store, "a");
            link.toClient().hold();
            CompletableFuture<Optional<Grant>> claim =
                    Asked.of(store, Rig.claim("b")).answer();
            Rig.until("it to be granted", () -> !rig.call("GET", "holdfast:{b}").equals("(nil)"));

            assertThat(wire.cut()).isPositive();

            assertThatThrownBy(() -> Rig.get(claim)).isInstanceOf(StoreUnavailableException.class);
        }
    }

    /** The script was answered, WAIT never is: a check of the scripts alone would find nothing. */
    @Test
    void aServerThatStopsWhileItWaitsForItsReplicasIsLeft() {
        try (TcpProxy wire = TcpProxy.to(rig.server.port())) {
            RedisStore store = rig.open("redis://127.0.0.1:" + wire.port() + "?acks=1&timeout=2s");
            Rig.hold(store, "a");
            link.toClient().hold();
            CompletableFuture<Optional<Grant>> claim =
                    Asked.of(store, Rig.claim("b")).answer();
            Rig.until("it to be granted", () -> !rig.call("GET", "holdfast:{b}").equals("(nil)"));
            wire.toClient().hold();

            assertThatThrownBy(() -> Rig.get(claim)).isInstanceOf(StoreUnavailableException.class);
            link.heal();
            long before = wire.connections().accepted();
            Rig.until("it to connect again", () -> wire.connections().accepted() > before);
            wire.heal();
            Rig.until("the next claim to be granted", () -> granted(store, "c"));
        }
    }

    private static boolean granted(RedisStore store, String name) {
        try {
            return Rig.attempt(store, name).isPresent();
        } catch (StoreUnavailableException notYet) {
            return false;
        }
    }

    @Test
    void aMasterThatBecomesAReplicaWhileItWaitsIsUnavailable() {
        RedisStore store = rig.open(rig.server.uri() + "?acks=1&timeout=20s");
        Rig.hold(store, "a");
        link.toClient().hold();
        CompletableFuture<Optional<Grant>> claim =
                Asked.of(store, Rig.claim("b")).answer();
        Rig.until("it to be granted", () -> !rig.call("GET", "holdfast:{b}").equals("(nil)"));

        rig.call("REPLICAOF", "127.0.0.1", Integer.toString(replica.port()));

        assertThatThrownBy(() -> Rig.get(claim)).isInstanceOf(StoreUnavailableException.class);
    }

    /** It runs the script, since replicas of this server take writes, and then refuses WAIT. */
    @Test
    void aWaitGoesOnThoughItsMasterBecomesAReplicaBetweenItsGrantAndItsWaitForReplicas() {
        RedisStore store = rig.open(acks(1));
        Rig.hold(store, "a");
        rig.call("CONFIG", "SET", "replica-read-only", "no");
        rig.call("REPLICAOF", "127.0.0.1", Integer.toString(Ports.free()));
        assertThatThrownBy(() -> Rig.attempt(store, "b"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("replica");
        rig.commands();
        Asked waits = Asked.of(store, Rig.waiting(Rig.claim("c")));
        Rig.until("it to be asked", () -> rig.commands().containsKey("wait"));

        rig.call("REPLICAOF", "NO", "ONE");

        assertThat(Rig.granted(waits)).isNotNull();
    }

    @Test
    @Tag("thorough")
    void aRecordIsConfirmed() {
        RedisStore store = rig.open(acks(1));
        link.toClient().hold();
        RecordWrite record = new RecordWrite("a", 1, RecordWrite.ABSENT, "ran", Duration.ofMinutes(1));
        assertThatThrownBy(() -> Rig.get(store.writeRecord(record))).isInstanceOf(StoreUnavailableException.class);
    }

    /** The master has it, and so does whoever reads it there. */
    @Test
    void workWhoseEndNoReplicaConfirmsIsNotSaidToHaveRun() {
        try (LockClient client = LockClient.connect(rig.server.uri() + "?acks=1&timeout=2s")) {
            Once work =
                    client.once("a", OnceOptions.keptFor(Duration.ofMinutes(5)).lease(Duration.ofSeconds(4)));

            assertThatThrownBy(() -> work.run(turn -> link.toClient().hold()).message())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("its end could not be recorded");

            assertThat(rig.call("GET", "holdfast:{a}:r")).contains("DONE");
        }
    }

    /** The end of a connection cancels all that was sent, to be sent again a moment later. */
    @Test
    void aClaimThatIsMadeAfterAResetDoesNotOvertakeTheReleaseBeforeIt() {
        try (TcpProxy wire = TcpProxy.to(rig.server.port())) {
            RedisStore store = rig.open("redis://127.0.0.1:" + wire.port() + "?acks=1");
            Grant grant = Rig.hold(store, "a");
            wire.toServer().hold();
            CompletionStage<Boolean> released = store.release(grant);
            Rig.until("the release to be sent", () -> wire.toServer().traffic().kept() > 0);

            assertThat(wire.cut()).isPositive();
            Asked claim = Asked.of(store, Rig.claim("a"));
            wire.heal();

            assertThat(Rig.get(claim.answer())).isPresent();
            assertThat(Rig.get(released)).isTrue();
        }
    }

    @Test
    void aServerWithoutWaitIsRefused() {
        rig.call("ACL", "SETUSER", "locks", "reset", "on", ">pw", "~*", "&*", "+@all", "-wait");
        assertThatThrownBy(
                        () -> Rig.attempt(rig.open("redis://locks:pw@127.0.0.1:" + rig.server.port() + "?acks=1"), "a"))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("does not let this user");
    }

    @Test
    @Tag("thorough")
    void theRightsOnThePageAreEnough() {
        Rights.give(rig.server, "locks", Rights.onThePage() + " +wait");
        String url = "redis://locks:pw@127.0.0.1:" + rig.server.port() + "?acks=1";
        Rights.useAll(rig.open(url), rig.open(url), "a");
    }

    @Test
    void acksIsANumberOfReplicas() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> rig.open(rig.server.uri() + "?acks=all"))
                .withMessageContaining("acks");
        assertThat(rig.open(acks(1)).capabilities().caveats()).anyMatch(caveat -> caveat.contains("1 replicas"));
    }

    private String acks(int replicas) {
        return rig.server.uri() + "?acks=" + replicas + "&timeout="
                + Duration.ofSeconds(6).toMillis() + "ms";
    }
}
