package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ClientClosedException;
import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreFactory;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.Residue;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** What becomes of requests and grants when a client's way into the store is closed. */
abstract class CloseCases extends Cases {
    /** How the threads of a client begin: our own, and those of Lettuce and Curator. */
    private static final List<String> CLIENT_THREADS = List.of("holdfast-", "lettuce-", "Curator-");

    CloseCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void everyRequestAfterTheCloseFailsAsClosed() {
        RawClient one = rig.raw();
        Grant grant = one.hold(rig.name());
        Store closed = one.store;
        closed.close();
        Claim claim = Claims.of(rig.name());
        Map<String, Supplier<CompletionStage<?>>> requests = new LinkedHashMap<>();
        requests.put("claim", () -> Asked.of(closed, claim).answer());
        requests.put(
                "waiting claim", () -> Asked.of(closed, Claims.waiting(claim)).answer());
        requests.put("renew", () -> closed.renew(List.of(grant)));
        requests.put("extend", () -> closed.extend(grant));
        requests.put("release", () -> closed.release(grant));
        requests.put("withdraw", () -> closed.withdraw(claim));
        requests.put("status", () -> closed.status(grant.name()));
        requests.put("list", () -> closed.list(""));
        requests.put("break", () -> closed.breakGrant(grant.name(), grant.number(), true));

        requests.forEach((what, request) -> assertThat(rig.patience.failure(request, what + " after the close"))
                .as(what)
                .isInstanceOf(ClientClosedException.class));
    }

    @Test
    void claimsThatWaitAreEndedByTheClose() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        String name = rig.name();
        one.hold(name);
        RawClient.Queued waiting = two.queue(name);

        two.store.close();

        assertThat(rig.patience.failure(() -> waiting.pending().answer(), "waiting claim"))
                .isInstanceOf(ClientClosedException.class);
        waiting.pending().cancel();
    }

    @Test
    void whatWasToHappenBeforeSendingHappensAfterTheCloseToo() {
        RawClient one = rig.raw();
        String name = one.hold(rig.name()).name();
        one.store.close();
        AtomicInteger times = new AtomicInteger();

        one.store.beforeSending(name, times::incrementAndGet);

        rig.patience.until("the task to run", () -> times.get() == 1);
    }

    @Test
    void closingTwiceDoesNothing() {
        Store store = rig.store();
        store.close();
        store.close();
        assertThat(store.capabilities()).isNotNull();
        assertThat(store.description()).isNotEmpty();
    }

    @Test
    void grantsAreLeftToTheirLeasesByTheClose() {
        rig.assumeLeased();
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        Grant grant = one.hold(rig.name(), rig.brief());

        one.store.close();

        two.holdWhenFree(grant.name());
        assertThat(rig.now() - grant.sentNanos()).isGreaterThanOrEqualTo(Rig.least(rig.brief()));
    }

    @Test
    void otherClientsAreNotAffectedByTheClose() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        RawClient three = rig.raw();
        Grant grant = two.hold(rig.name());
        RawClient.Queued waiting = three.queue(grant.name());

        one.store.close();

        assertThat(two.isHeldBy(grant)).isTrue();
        two.release(grant);
        assertThat(three.isHeldBy(waiting.granted())).isTrue();
    }

    @Test
    void aClaimThatRacesTheCloseIsAnsweredAndBlocksNobody() {
        RawClient holder = rig.raw();
        RawClient next = rig.raw();
        String name = rig.name();
        for (int round = 0; round < rig.contract.rounds() / 2; round++) {
            Grant grant = holder.hold(name);
            Store closing = rig.store();
            AtomicReference<CompletionStage<Optional<Grant>>> racing = new AtomicReference<>();

            rig.race(closing::close, () -> racing.set(answerOf(closing, Claims.waiting(Claims.of(name)))));

            assertThat(rig.patience.failure(racing::get, "claim racing the close"))
                    .isInstanceOf(ClientClosedException.class);
            holder.release(grant);
            Grant after = next.hold(Claims.waiting(Claims.of(name)));
            next.release(after);
        }
    }

    @Test
    void anInterruptedThreadClosesTheStoreAllTheSameAndStaysInterrupted() throws Exception {
        assertLeavesNothing(() -> {
            RawClient one = rig.raw();
            RawClient two = rig.raw();
            RawClient.Queued waiting = two.queue(one.hold(rig.name()).name());
            Thread.currentThread().interrupt();
            two.store.close();
            one.store.close();
            boolean kept = Thread.interrupted();
            assertThat(waiting.pending().answer()).isCompletedExceptionally();
            return kept;
        });
    }

    @Test
    void anInterruptedThreadOpensAndClosesAClientAllTheSameAndStaysInterrupted() throws Exception {
        StoreFactory factory = rig.contract::open;
        assertLeavesNothing(() -> {
            Thread.currentThread().interrupt();
            try (LockClient client = LockClient.builder(factory).build()) {
                Optional<Hold> hold = client.lock(rig.name()).tryAcquire();
                assertThat(hold).isPresent();
                hold.ifPresent(Hold::close);
            }
            return Thread.interrupted();
        });
    }

    private void assertLeavesNothing(Callable<Boolean> keepsFlag) throws Exception {
        onThreadOfItsOwn(keepsFlag); // what is made once in a process, drivers and pools, is not the client's
        Residue.Watch watch = Residue.watch();
        CLIENT_THREADS.forEach(watch::threads);
        if (Residue.canWatchOpenFiles()) {
            watch.openFiles();
        }
        Residue residue = watch.begin();
        assertThat(onThreadOfItsOwn(keepsFlag)).as("interrupted afterwards").isTrue();
        residue.assertNothingLeft(rig.contract.patience());
    }

    /** With a name that the threads of ZooKeeper's client then have, too. */
    private boolean onThreadOfItsOwn(Callable<Boolean> task) {
        FutureTask<Boolean> result = new FutureTask<>(task);
        new Thread(result, "holdfast-kit").start();
        return rig.patience.times(4).result(result, "task of an interrupted thread");
    }

    private static CompletionStage<Optional<Grant>> answerOf(Store store, Claim claim) {
        try {
            return Asked.of(store, claim).answer();
        } catch (ClientClosedException thrown) {
            return CompletableFuture.failedFuture(thrown);
        }
    }
}
