package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.DistributedMultiLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.MultiHold;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Several names together through the engine: all or none, and no two wait for each other. */
abstract class MultiLockCases extends Cases {
    private static final int CLIENTS = 3;
    private static final int THREADS_EACH = 2;
    private static final int PASSES = 25;

    /** In the order in which they are locked. */
    private final List<String> names =
            Stream.generate(rig::name).limit(3).sorted().toList();

    MultiLockCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void allAreHeldTogetherEachWithItsOwnTokenAndGivenBackTogether() throws Exception {
        LockClient other = rig.client();
        Map<String, Long> before = new HashMap<>();
        for (String name : names) {
            try (Hold hold = other.lock(name, SharedCases.AWAITED).acquire()) {
                before.put(name, hold.token());
            }
        }
        MultiHold all = rig.client().multiLock(shuffled(), SharedCases.AWAITED).acquire();
        assertThat(all.names()).isEqualTo(names);
        assertThat(all.isValid()).isTrue();
        for (String name : names) {
            assertThat(all.token(name)).isGreaterThan(before.get(name));
            assertThat(other.lock(name).tryAcquire()).as(name).isEmpty();
        }

        all.close();

        for (String name : names) {
            try (Hold hold = other.lock(name).tryAcquire().orElseThrow()) {
                assertThat(hold.token()).isGreaterThan(all.token(name));
            }
        }
    }

    @Test
    void noneIsHeldWhereOneIsTaken() throws Exception {
        DistributedMultiLock lock = rig.client().multiLock(shuffled());
        RawClient raw = rig.raw();
        for (String taken : names) {
            try (Hold hold = rig.client().lock(taken, SharedCases.AWAITED).acquire()) {
                assertThat(lock.tryAcquire()).isEmpty();

                assertThat(hold.isValid()).isTrue();
                awaitFreeBut(taken, raw);
            }
        }
        assertThat(lock.tryAcquire()).hasValueSatisfying(MultiHold::close);
    }

    @Test
    void whatIsWaitedForComesWhenTheOthersHaveGone() throws Exception {
        LockClient other = rig.client();
        RawClient raw = rig.raw();
        Hold first = other.lock(names.get(0)).acquire();
        Hold last = other.lock(names.get(2)).acquire();
        DistributedMultiLock lock = rig.client().multiLock(shuffled());
        Future<MultiHold> waiting = rig.fork(lock::acquire);
        raw.awaitWaiting(names.get(0), 1);
        raw.awaitFree(names.get(1)); // behind one that is waited for; its release may come after that claim
        first.close();
        raw.awaitWaiting(names.get(2), 1);
        assertThat(raw.isHeld(names.get(0))).isTrue();
        assertThat(raw.isHeld(names.get(1))).isTrue();

        last.close();

        try (MultiHold all = rig.patience.result(waiting, "all of them")) {
            assertThat(all.isValid()).isTrue();
        }
    }

    @Test
    void allIsUndoneWhenTheTimeHasPassed() throws Exception {
        RawClient raw = rig.raw();
        Hold taken = rig.client().lock(names.get(2)).acquire();
        DistributedMultiLock lock = rig.client().multiLock(shuffled());
        rig.unhurried(() -> {
            Future<Optional<MultiHold>> waiting = rig.fork(() -> lock.tryAcquire(rig.brief()));
            rig.patience.until("it to wait or to end", () -> raw.seemsWaitedFor(names.get(2), 1) || waiting.isDone());
            boolean came = !waiting.isDone();

            assertThat(rig.patience.result(waiting, "the wait to end")).isEmpty();

            awaitFreeBut(names.get(2), raw);
            if (!came) {
                throw new Rig.TooSlow();
            }
        });
        assertThat(taken.isValid()).isTrue();
        raw.awaitWaiting(names.get(2), 0);
        taken.close();
    }

    @Test
    void allIsUndoneWhenItIsInterrupted() throws Exception {
        RawClient raw = rig.raw();
        Hold taken = rig.client().lock(names.get(2)).acquire();
        DistributedMultiLock lock = rig.client().multiLock(shuffled());
        CompletableFuture<Thread> waiter = new CompletableFuture<>();
        Future<Boolean> interrupted = rig.fork(() -> {
            waiter.complete(Thread.currentThread());
            try (MultiHold unexpected = lock.acquire()) {
                throw new AssertionError("got " + unexpected);
            } catch (InterruptedException expected) {
                return true;
            }
        });
        raw.awaitWaiting(names.get(2), 1);
        assertThat(raw.isHeld(names.get(0))).isTrue();

        waiter.join().interrupt();

        assertThat(rig.patience.result(interrupted, "the interrupted waiter")).isTrue();
        awaitFreeBut(names.get(2), raw);
        raw.awaitWaiting(names.get(2), 0);
        taken.close();
    }

    @Test
    void oneLostIsAllLostAndToldOnce() throws Exception {
        RawClient raw = rig.raw();
        HoldOptions brief = HoldOptions.defaults().lease(rig.brief().multipliedBy(2));
        MultiHold all = rig.client().multiLock(shuffled(), brief).acquire();
        AtomicInteger told = new AtomicInteger();
        all.onLost(loss -> told.incrementAndGet());

        raw.breakShown(names.get(1), true);

        rig.patience.until("the loss to be told", () -> told.get() > 0 && !all.isValid());
        assertThatThrownBy(all::close).isInstanceOf(HoldLostException.class);
        names.forEach(raw::awaitFree);
        assertThat(told).hasValue(1);
    }

    @Test
    void thoseThatCrossEachOtherExcludeEachOtherNameByNameAndNeverDeadlock() {
        Map<String, CriticalSection> sections = new HashMap<>();
        names.forEach(name -> sections.put(name, new CriticalSection()));
        Map<String, AtomicInteger> passes = new HashMap<>();
        names.forEach(name -> passes.put(name, new AtomicInteger()));
        List<Future<?>> threads = new ArrayList<>();
        for (int c = 0; c < CLIENTS; c++) {
            LockClient client = rig.client();
            for (int t = 0; t < THREADS_EACH; t++) {
                Random random = new Random(CLIENTS * t + c);
                threads.add(rig.fork(() -> {
                    for (int i = 0; i < PASSES; i++) {
                        lockSome(client, random, sections, passes);
                    }
                    return true;
                }));
            }
        }
        threads.forEach(each -> rig.patience.times(4).result(each, "multi-locks that cross each other"));
        names.forEach(name -> sections.get(name).assertPassed(passes.get(name).get()));
    }

    private void lockSome(
            LockClient client, Random random, Map<String, CriticalSection> sections, Map<String, AtomicInteger> passes)
            throws InterruptedException {
        List<String> some = new ArrayList<>(names);
        Collections.shuffle(some, random);
        some = some.subList(0, 1 + random.nextInt(names.size()));
        try (MultiHold hold = client.multiLock(some).acquire()) {
            for (String name : some) {
                sections.get(name).pass(hold, hold.token(name));
                passes.get(name).incrementAndGet();
            }
        }
    }

    private void awaitFreeBut(String taken, RawClient raw) {
        names.stream().filter(name -> !name.equals(taken)).forEach(raw::awaitFree);
        assertThat(raw.isHeld(taken)).isTrue();
    }

    private List<String> shuffled() {
        return List.of(names.get(2), names.get(0), names.get(1));
    }
}
