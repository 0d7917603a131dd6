package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.LockClient;
import dev.holdfast.LockMode;
import dev.holdfast.UnsupportedByStoreException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode.Permits;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** Semaphores through the engine: never more permits out than there are, and none that stays out. */
abstract class SemaphoreCases extends SharedCases {
    private static final int CLIENTS = 3;
    private static final int THREADS_EACH = 3;
    private static final int PASSES = 40;

    SemaphoreCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void aStoreWithoutPermitsSaysSoWhenTheSemaphoreIsMade() throws Exception {
        LockClient client = rig.client();
        if (rig.capabilities().modes().contains(LockMode.PERMITS)) {
            client.semaphore(rig.name(), 2).acquire().close();
        } else {
            assertThatThrownBy(() -> client.semaphore(rig.name(), 2)).isInstanceOf(UnsupportedByStoreException.class);
        }
    }

    @Test
    void neverAreMorePermitsOutThanThereAreAndAllComeBack() throws Exception {
        assumePermits();
        String name = rig.name();
        SharedSection section = new SharedSection();
        Queue<Long> tokens = new ConcurrentLinkedQueue<>();
        List<Rig.Body> threads = new ArrayList<>();
        for (int c = 0; c < CLIENTS; c++) {
            DistributedSemaphore semaphore = rig.client().semaphore(name, 3);
            for (int t = 0; t < THREADS_EACH; t++) {
                int wanted = t == 0 ? 2 : 1;
                threads.add(() -> {
                    for (int i = 0; i < PASSES; i++) {
                        try (Hold hold = semaphore.acquire(wanted)) {
                            tokens.add(hold.token());
                            section.share(hold, wanted, 3);
                        }
                    }
                });
            }
        }
        together("threads with permits of '" + name + "'", threads);
        section.assertPassed(CLIENTS * THREADS_EACH * PASSES);
        assertThat(tokens).doesNotHaveDuplicates();
        rig.patience
                .result(rig.client().semaphore(name, 3).acquireAsync(3), "all permits")
                .close();
    }

    @Test
    void severalPermitsAreHadTogetherOrNotAtAll() throws Exception {
        List<DistributedSemaphore> semaphores = semaphores(2, 3, AWAITED);
        Hold two = semaphores.get(0).acquire(2);

        assertThat(semaphores.get(1).tryAcquire(2)).isEmpty();
        Hold one = semaphores.get(1).tryAcquire(1).orElseThrow();
        assertThat(semaphores.get(0).tryAcquire()).isEmpty();

        two.close();
        assertThat(semaphores.get(1).tryAcquire(3)).as("one is still out").isEmpty();
        semaphores.get(1).tryAcquire(2).orElseThrow().close();
        one.close();
        semaphores.get(0).tryAcquire(3).orElseThrow().close();
    }

    @Test
    void thePermitsOfADeadClientComeBack() {
        assumePermits();
        DistributedSemaphore semaphore = rig.client().semaphore(rig.name(), 3);
        RawClient doomed = rig.raw();
        doomed.hold(Claims.lease(Claims.mode(Claims.of(semaphore.name()), new Permits(2, 3)), rig.brief()));

        doomed.store.close();

        rig.patience.result(semaphore.acquireAsync(3), "all permits").close();
    }

    @Test
    void noPermitIsGivenBackTwice() throws Exception {
        List<DistributedSemaphore> semaphores = semaphores(3, 2, AWAITED);
        Hold closed = semaphores.get(0).acquire();
        Hold kept = semaphores.get(1).acquire();
        closed.close();
        Hold next = semaphores.get(1).tryAcquire().orElseThrow();

        closed.close();

        assertThat(semaphores.get(2).tryAcquire()).as("both permits are out").isEmpty();
        kept.close();
        next.close();
    }

    @Test
    void breakingSomePermitsLeavesTheOthers() {
        assumePermits();
        String name = rig.name();
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        Grant shown = one.hold(permits(name, 2, 3));
        Grant other = two.hold(permits(name, 1, 3));

        assertThat(rig.raw().breakGrant(shown, false)).isTrue();
        assertThat(one.isHeldBy(shown)).isFalse();
        assertThat(two.isHeldBy(other)).isTrue();
        assertThat(two.ask(permits(name, 1, 3)))
                .as("the lease of the broken one runs on")
                .isEmpty();

        assertThat(rig.raw().breakGrant(shown, true)).isTrue();
        assertThat(two.isHeldBy(two.hold(permits(name, 2, 3)))).isTrue();
        assertThat(two.isHeldBy(other)).isTrue();
    }

    @Test
    void aPermitThatWasLostIsNotGivenBackAgain() throws Exception {
        List<DistributedSemaphore> semaphores = semaphores(2, 2, AWAITED);
        DistributedSemaphore loses = rig.client().semaphore(semaphores.get(0).name(), 2, AWAITED.lease(rig.renewed()));
        RawClient raw = rig.raw();
        Hold lost = loses.acquire(2);

        assertThat(raw.breakShown(lost.name(), true)).isTrue();
        Hold all = semaphores.get(0).tryAcquire(2).orElseThrow();

        rig.patience.until(lost + " to be lost", () -> !lost.isValid());
        assertThatThrownBy(lost::close).isInstanceOf(HoldLostException.class);
        assertThat(semaphores.get(1).tryAcquire()).as("both permits are out").isEmpty();
        assertThat(all.isValid()).isTrue();
        all.close();
    }

    @Test
    void clientsThatDisagreeAboutHowManyThereAreEachKeepTheirOwnNumber() throws Exception {
        assumePermits();
        String name = rig.name();
        DistributedSemaphore three = rig.client().semaphore(name, 3, AWAITED);
        DistributedSemaphore five = rig.client().semaphore(name, 5, AWAITED);
        Hold all = three.acquire(3);
        Hold more = five.tryAcquire(2).orElseThrow();
        assertThat(five.tryAcquire()).as("five are out").isEmpty();

        all.close();

        assertThat(three.tryAcquire(2)).as("two are out, and three the bound").isEmpty();
        three.tryAcquire(1).orElseThrow().close();
        five.tryAcquire(3).orElseThrow().close();
        more.close();
        three.tryAcquire(3).orElseThrow().close();
    }

    @Test
    void oneWhoWantsManyIsNotOvertakenByClientsThatWantFew() throws Exception {
        assumeFair();
        rig.unhurried(this::oneWhoWantsManyIsServedBeforeOneWhoCameLater);
    }

    private void oneWhoWantsManyIsServedBeforeOneWhoCameLater() throws Exception {
        List<DistributedSemaphore> semaphores = semaphores(3, 3, AWAITED);
        RawClient raw = rig.raw();
        Hold one = semaphores.get(0).acquire();
        Hold other = semaphores.get(0).acquire();
        CompletableFuture<Hold> many = semaphores.get(1).acquireAsync(3);
        raw.awaitWaiting(one.name(), 1);

        assertThat(semaphores.get(2).tryAcquire()).as("one is free, but wanted").isEmpty();
        CompletableFuture<Hold> few = semaphores.get(2).acquireAsync(1);
        raw.awaitWaiting(one.name(), 2);
        one.close();
        assertThat(raw.waiting(one.name())).isEqualTo(2);
        servedFirst(other::close, many, few);

        Hold all = rig.patience.result(many, "the one who wants many");
        assertThat(few).isNotDone();
        all.close();
        rig.patience.result(few, "the one who wants few").close();
    }

    @Test
    void permitsThatComeBackTogetherServeAllWhoFit() throws Exception {
        List<DistributedSemaphore> semaphores = semaphores(4, 3, AWAITED);
        Hold all = semaphores.get(0).acquire(3);
        List<CompletableFuture<Hold>> waiting = new ArrayList<>();
        for (DistributedSemaphore semaphore : semaphores.subList(1, 4)) {
            waiting.add(semaphore.acquireAsync(1));
            rig.raw().awaitWaiting(all.name(), waiting.size());
        }

        all.close();

        List<Hold> holds = waiting.stream()
                .map(each -> rig.patience.result(each, "a permit"))
                .toList();
        assertThat(holds).as("all at once").allMatch(Hold::isValid);
        assertThat(semaphores.get(0).tryAcquire()).isEmpty();
        holds.forEach(Hold::close);
    }

    @Test
    void whoGivesUpLeavesNothingAndKeepsNobodyOut() throws Exception {
        assumeFair();
        List<DistributedSemaphore> semaphores = semaphores(3, 3, AWAITED);
        RawClient raw = rig.raw();
        Hold two = semaphores.get(0).acquire(2);
        CompletableFuture<Hold> many = semaphores.get(1).acquireAsync(2);
        raw.awaitWaiting(two.name(), 1);
        CompletableFuture<Hold> few = semaphores.get(2).acquireAsync(1);
        raw.awaitWaiting(two.name(), 2);

        many.cancel(false);

        rig.patience.result(few, "the one behind").close();
        raw.awaitWaiting(two.name(), 0);
        two.close();
        Optional<Hold> all = semaphores.get(0).tryAcquire(3);
        assertThat(all).hasValueSatisfying(Hold::close);
    }

    @Test
    void aClientThatClosesWhileItWaitsKeepsNobodyOut() throws Exception {
        assumeFair();
        List<DistributedSemaphore> semaphores = semaphores(2, 3, AWAITED);
        RawClient raw = rig.raw();
        Hold two = semaphores.get(0).acquire(2);
        LockClient leaving = rig.client();
        CompletableFuture<Hold> many = leaving.semaphore(two.name(), 3, AWAITED).acquireAsync(2);
        raw.awaitWaiting(two.name(), 1);
        CompletableFuture<Hold> few = semaphores.get(1).acquireAsync(1);
        raw.awaitWaiting(two.name(), 2);

        leaving.close();

        rig.patience.result(few, "the one behind").close();
        rig.patience.until("the one who left to be told", many::isCompletedExceptionally);
        two.close();
    }

    private static Claim permits(String name, int permits, int of) {
        return Claims.mode(Claims.of(name), new Permits(permits, of));
    }
}
