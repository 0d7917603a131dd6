package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.spi.Grant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Through the engine: one at a time, tokens that rise, and one waiter in the store for any number of callers. */
abstract class ExclusionCases extends Cases {
    private static final int CLIENTS = 3;
    private static final int THREADS_EACH = 4;
    private static final int PASSES = 60;
    private static final int CALLERS = 500;

    ExclusionCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void threadsOfSeveralClientsExcludeEachOtherAndTokensRiseInTheOrderOfHolding() {
        exclude(HoldOptions.defaults());
    }

    @Test
    void theyDoSoInStrictOrderToo() {
        exclude(HoldOptions.defaults().strictFifo(true));
    }

    private void exclude(HoldOptions options) {
        String name = rig.name();
        CriticalSection section = new CriticalSection();
        List<Future<?>> threads = new ArrayList<>();
        for (int c = 0; c < CLIENTS; c++) {
            LockClient client = rig.client();
            for (int t = 0; t < THREADS_EACH; t++) {
                threads.add(rig.fork(() -> {
                    for (int i = 0; i < PASSES; i++) {
                        try (Hold hold = client.lock(name, options).acquire()) {
                            section.pass(hold);
                        }
                    }
                    return true;
                }));
            }
        }
        threads.forEach(each -> rig.patience.times(4).result(each, "threads taking turns at '" + name + "'"));
        section.assertPassed(CLIENTS * THREADS_EACH * PASSES);
    }

    @Test
    void tokensRiseAcrossHandOverExpiryBreakingAndClients() throws Exception {
        String name = rig.name();
        LockClient one = rig.client();
        LockClient two = rig.client();
        RawClient raw = rig.raw();
        List<Long> tokens = new ArrayList<>();

        Hold first = one.lock(name).acquire();
        tokens.add(first.token());
        CompletableFuture<Hold> local = one.lock(name).acquireAsync();
        first.close();
        Hold handedOver = rig.patience.result(local, "hand-over");
        tokens.add(handedOver.token());
        handedOver.close();

        Hold silent = two.lock(name, fixed(rig.brief())).acquire();
        tokens.add(silent.token());
        rig.patience.until("the fixed lease to end", () -> !silent.isValid());

        Hold broken = one.lock(name).acquire();
        tokens.add(broken.token());
        rig.raw().breakShown(name, true);

        Grant another = raw.hold(Claims.waiting(Claims.of(name)));
        tokens.add(another.number() * 1024);
        raw.release(another);
        try (Hold last = two.lock(name).acquire()) {
            tokens.add(last.token());
        }
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void manyCallersOfOneClientWaitAsOneInTheStoreAndAllAreServed() throws Exception {
        String name = rig.name();
        LockClient holder = rig.client();
        LockClient crowd = rig.client();
        CriticalSection section = new CriticalSection();
        Hold hold = holder.lock(name).acquire();
        List<CompletableFuture<Void>> served = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            served.add(crowd.lock(name).acquireAsync().thenAccept(granted -> {
                section.pass(granted);
                granted.close();
            }));
        }
        RawClient raw = rig.raw();
        raw.awaitWaiting(name, 1);
        rig.pass(rig.brief());
        assertThat(raw.waiting(name)).as("waiters in the store").isEqualTo(rig.counted(1));
        assertThat(served).noneMatch(CompletableFuture::isDone);

        hold.close();

        served.forEach(each -> rig.patience.result(each, "one of " + CALLERS + " callers to be served"));
        section.assertPassed(CALLERS);
        rig.patience.until("nothing to be left", () -> !raw.isHeld(name) && raw.waiting(name) == 0);
    }

    @Test
    void aClientWithManyCallersDoesNotKeepAnotherOut() throws Exception {
        String name = rig.name();
        LockClient crowd = rig.client();
        LockClient lone = rig.client();
        List<CompletableFuture<Void>> served = new ArrayList<>();
        Hold hold = crowd.lock(name).acquire();
        for (int i = 0; i < CALLERS; i++) {
            served.add(crowd.lock(name).acquireAsync().thenAccept(Hold::close));
        }
        CompletableFuture<Hold> another = lone.lock(name).acquireAsync();
        rig.raw().awaitWaiting(name, 1);
        hold.close();

        rig.patience.result(another, "the lone caller of another client").close();
        served.forEach(each -> rig.patience.result(each, "one of the crowd"));
    }

    private static HoldOptions fixed(Duration lease) {
        return HoldOptions.defaults().autoRenew(false).lease(lease);
    }
}
