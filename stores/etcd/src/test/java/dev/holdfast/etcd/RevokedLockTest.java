package dev.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.Started;
import dev.holdfast.testbed.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Locks that are broken by a client which leaves at once, as the command line does. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class RevokedLockTest {
    /** A busy machine is in time to renew it. */
    private static final Duration LEASE = Duration.ofSeconds(9);

    private static final HoldOptions BRIEF = HoldOptions.defaults().lease(LEASE);
    private static final Duration LONG = Duration.ofSeconds(60);

    @Started
    private static EtcdServer server;

    /** Its session lives on with another hold, so that no lease of etcd ends. */
    @Test
    void aBrokenLockIsFreeOneLeaseLaterThoughTheClientThatBrokeItHasLeft() throws Exception {
        try (LockClient holder = client(server.port());
                LockClient rival = client(server.port())) {
            Hold kept = holder.lock("kept", BRIEF).acquire();
            Hold broken = holder.lock("broken", BRIEF).acquire();
            CompletableFuture<Hold> waiting =
                    rival.lock("broken").acquireAsync().toCompletableFuture();
            CompletableFuture<Boolean> beside = waiting.thenApply(granted -> broken.isValid());
            breakNow("broken");

            Hold next = waiting.get(60, TimeUnit.SECONDS);

            assertThat(next.token()).isGreaterThan(broken.token());
            assertThat(beside.get()).as("valid beside its successor").isFalse();
            assertThat(kept.isValid()).isTrue();
            next.close();
            kept.close();
        }
    }

    @Test
    void aBrokenGrantOfEachModeIsRemovedOneLeaseAfterItsHolderFindsThatOut() {
        List<Mode> modes = List.of(Mode.EXCLUSIVE, Mode.SHARED, new Mode.Permits(2, 3));
        try (Store holder = RawStore.open(server.port());
                Store other = RawStore.open(server.port())) {
            Grant kept = RawStore.hold(holder, "kept-by-raw", LEASE);
            List<Grant> broken = new ArrayList<>();
            for (Mode mode : modes) {
                Claim claim = RawStore.claim("broken-" + mode.kind(), mode, LEASE, true);
                broken.add(RawStore.answer(Asked.of(holder, claim).answer()).orElseThrow());
            }
            try (Store breaker = RawStore.open(server.port())) {
                for (Grant each : broken) {
                    assertThat(RawStore.answer(breaker.breakGrant(each.name(), each.number(), false)))
                            .isTrue();
                }
            }

            assertThat(RawStore.answer(holder.renew(broken)).values())
                    .extracting(Renewal::verdict)
                    .containsOnly(Renewal.Verdict.LOST);
            long found = System.nanoTime();

            for (Grant each : broken) {
                await().atMost(LONG)
                        .until(() -> !RawStore.answer(other.status(each.name())).isHeld());
                assertThat(Duration.ofNanos(System.nanoTime() - found)).isGreaterThan(LEASE.minusMillis(100));
            }
            assertThat(RawStore.answer(holder.release(kept))).isTrue();
        }
    }

    /** It learns of its turn and of the break at once; nobody relied on what was broken. */
    @Test
    void aClaimThatIsBrokenBeforeItHearsOfItsTurnEntersAgain() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                LockClient holder = client(server.port());
                LockClient waiter = client(proxy.port())) {
            Hold hold = holder.lock("turn").acquire();
            CompletableFuture<Hold> waiting = waiter.lock("turn").acquireAsync().toCompletableFuture();
            await().atMost(LONG).until(() -> holder.lock("turn").status().waiting() == 1);
            proxy.toClient().hold();
            hold.close();
            await().atMost(LONG).until(() -> holder.lock("turn").status().waiting() == 0);
            breakNow("turn");

            proxy.toClient().resume();

            Hold next = waiting.get(20, TimeUnit.SECONDS);
            assertThat(next.isValid()).isTrue();
            next.close();
        }
    }

    private static void breakNow(String name) {
        try (LockClient breaker = client(server.port())) {
            long token = breaker.lock(name).status().grant().orElseThrow().token();
            assertThat(breaker.breakGrant(name, token, false)).isTrue();
        }
    }

    private static LockClient client(int port) {
        return LockClient.connect(Etcd.url("127.0.0.1:" + port));
    }
}
