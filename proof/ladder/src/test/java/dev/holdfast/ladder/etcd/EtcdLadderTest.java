package dev.holdfast.ladder.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ladder.LadderCase;
import dev.holdfast.ladder.Rung;
import dev.holdfast.ladder.Visitor;
import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.Started;
import java.time.Duration;
import java.util.Base64;
import java.util.function.Function;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Each fault breaks one rung in etcd, and the next one stands: up to a grant to a waiter that has no key any more. */
class EtcdLadderTest extends LadderCase {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @Started
    private static EtcdServer server;

    private static int locks;
    private final String lock = "stock:" + ++locks;

    // ---- the process is killed

    @Test
    @Tag("thorough")
    void aKilledProcessLeavesTheKeyForEver() {
        killedInside(PutIfAbsent.class, server.endpoint(), lock);

        assertThat(leaseOfTheKey()).isZero();
        assertThat(Visitor.canEnter(on(PutIfAbsent::new), lock)).isFalse();
    }

    @Test
    @Tag("thorough")
    void aLeaseEndsTheKey() {
        killedInside(PutWithLease.class, server.endpoint(), lock);

        assertThat(leaseOfTheKey()).isNotZero();
        Rung next = on(PutWithLease::new);
        Awaitility.await().atMost(PATIENCE).until(() -> Visitor.canEnter(next, lock));
    }

    // ---- the work takes longer than the lease, and then lets go

    @Test
    void aLateHolderDeletesTheKeyOfTheNext() {
        Rung third = on(PutWithLease::new);
        Visitor first = Visitor.comes(on(PutWithLease::new), lock);
        first.awaitInside();
        revokeTheOnlyLease();
        Visitor second = Visitor.comes(on(PutWithLease::new), lock);
        second.awaitInside();

        first.leaves();

        assertThat(Visitor.canEnter(third, lock)).as("beside the second").isTrue();
        second.leaves();
    }

    @Test
    void theLockServiceUnlocksItsOwnKeyAlone() {
        Visitor first = Visitor.comes(on(LockService::new), lock);
        first.awaitInside();
        revokeTheOnlyLease();
        Visitor second = Visitor.comes(on(LockService::new), lock);
        second.awaitInside();

        first.leaves();

        assertThat(keys()).as("that of the second").isOne();
        second.leaves();
    }

    // ---- a lease ends while its client waits

    @Test
    void theLockServiceGrantsTheLockToAWaiterWhoseKeyIsGone() {
        Visitor first = Visitor.comes(on(LockService::new), lock);
        first.awaitInside();
        Visitor second = Visitor.comes(on(LockService::new), lock);
        // nobody keeps these leases alive, so that both end while the second waits
        Awaitility.await().atMost(PATIENCE).until(() -> keys() == 0);
        second.awaitInside();

        assertThat(keys()).as("of who is inside").isZero();
        assertThat(Visitor.canEnter(on(LockService::new), lock))
                .as("beside the second")
                .isTrue();
        second.leaves();
        first.leaves();
    }

    @Test
    void holdfastReleasesItsOwnKeyAlone() throws Exception {
        holdfastReleasesItsOwnAlone("etcd://" + server.endpoint(), lock, Duration.ofSeconds(2));
    }

    private Rung on(Function<String, Rung> rung) {
        return keep(rung.apply(server.endpoint()));
    }

    private void revokeTheOnlyLease() {
        server.ask("lease/revoke", "{\"ID\":" + leaseOfTheKey() + "}");
    }

    private long leaseOfTheKey() {
        return EtcdServer.field(found(), "lease");
    }

    private long keys() {
        return EtcdServer.field(found(), "count");
    }

    /** All keys that begin so. */
    private String found() {
        String end = lock.substring(0, lock.length() - 1) + (char) (lock.charAt(lock.length() - 1) + 1);
        return server.ask("kv/range", "{\"key\":\"%s\",\"range_end\":\"%s\"}".formatted(base64(lock), base64(end)));
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
    }
}
