package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.LockEvent.Acquired;
import dev.holdfast.LockEvent.NotAcquired;
import dev.holdfast.LockEvent.NotAcquired.Reason;
import dev.holdfast.LockEvent.ReleaseFailed;
import dev.holdfast.LockEvent.Released;
import dev.holdfast.LockEvent.RenewalFailed;
import dev.holdfast.LockEvent.Renewed;
import dev.holdfast.LockEvent.Suspect;
import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A listener hears of everything that happens to a lock, once, in order, and on a thread of its own. */
@Timeout(120)
class ListenerTest {
    private static final HoldOptions AWAITED = HoldOptions.defaults().awaitRelease(true);

    private final ManualTime time = new ManualTime();
    private final MemoryStore memory = new MemoryStore(time);
    private final UnreliableStore line = new UnreliableStore(memory.open(time));
    private final Ear ear = new Ear();
    private final LockClient client =
            LockClient.builder(line).time(time).listener(ear).build();
    private final DistributedLock lock = client.lock("a");

    @AfterEach
    void close() {
        client.close();
    }

    private void awaitKinds(String... kinds) {
        await().untilAsserted(() -> assertThat(ear.kinds()).containsExactly(kinds));
    }

    @Test
    void listenersAreCalledOnTheExecutorOfTheApplication() throws InterruptedException {
        List<Runnable> tasks = new ArrayList<>();
        Ear here = new Ear();
        try (LockClient other = LockClient.builder(memory.open(time))
                .time(time)
                .listenerExecutor(tasks::add)
                .listener(here)
                .build()) {
            other.lock("b").acquire().close();
            assertThat(here.kinds()).isEmpty();
            tasks.forEach(Runnable::run);
            assertThat(here.kinds()).containsExactly("Waiting b", "Acquired b", "Released b");
        }
    }

    @Test
    void aHoldIsHeardOfFromTheWaitToTheRelease() throws InterruptedException {
        Hold hold = lock.acquire();
        time.advance(Duration.ofSeconds(2));
        hold.close();

        awaitKinds("Waiting a", "Acquired a", "Released a");
        assertThat(ear.only(Acquired.class))
                .isEqualTo(new Acquired("a", hold.token(), Duration.ZERO, false, line.description()));
        assertThat(ear.only(Released.class))
                .isEqualTo(new Released("a", hold.token(), Duration.ofSeconds(2), line.description()));
    }

    @Test
    void aHandOverIsAnAcquisitionWithoutTheStore() throws InterruptedException {
        Hold first = lock.acquire();
        CompletableFuture<Hold> second = lock.acquireAsync();
        first.close();
        second.join().close();

        awaitKinds("Waiting a", "Acquired a", "Waiting a", "Released a", "Acquired a", "Released a");
        assertThat(ear.all(Acquired.class)).extracting(Acquired::handedOver).containsExactly(false, true);
        assertThat(ear.all(Acquired.class)).extracting(Acquired::token).isSorted();
        assertThat(line.claimRequests).hasValue(1);
    }

    @Test
    void aTryThatFindsItTakenNeverWaited() throws InterruptedException {
        Hold hold = lock.acquire();
        assertThat(lock.tryAcquire()).isEmpty();
        hold.close();

        awaitKinds("Waiting a", "Acquired a", "NotAcquired a", "Released a");
        assertThat(ear.only(NotAcquired.class).reason()).isEqualTo(Reason.TAKEN);
    }

    @Test
    void aWaitThatTimesOutSaysHowLongItWas() throws InterruptedException {
        Hold hold = lock.acquire();
        Thread waiter = new Thread(() -> {
            try {
                assertThat(lock.tryAcquire(Duration.ofSeconds(3))).isEmpty();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        waiter.start();
        await().until(() -> EngineCase.waitsForALock(waiter));
        time.advance(Duration.ofSeconds(3));
        waiter.join();
        hold.close();

        awaitKinds("Waiting a", "Acquired a", "Waiting a", "NotAcquired a", "Released a");
        NotAcquired gone = ear.only(NotAcquired.class);
        assertThat(gone.reason()).isEqualTo(Reason.TIMED_OUT);
        assertThat(gone.waited()).isEqualTo(Duration.ofSeconds(3));
    }

    @Test
    void anInterruptedWaitAndACancelledFutureAreToldApart() throws InterruptedException {
        Hold hold = lock.acquire();
        Thread waiter = new Thread(() -> assertThatThrownBy(lock::acquire).isInstanceOf(InterruptedException.class));
        waiter.start();
        await().until(() -> EngineCase.waitsForALock(waiter));
        waiter.interrupt();
        waiter.join();
        assertThat(lock.acquireAsync().cancel(true)).isTrue();
        hold.close();

        await().until(() -> ear.kinds().contains("Released a"));
        assertThat(ear.all(NotAcquired.class))
                .extracting(NotAcquired::reason)
                .containsExactly(Reason.INTERRUPTED, Reason.CANCELLED);
    }

    @Test
    void aStoreThatFailsIsToldToTheListenerAndToTheCaller() {
        line.claims = UnreliableStore.Line.REQUEST_LOST;
        assertThatThrownBy(lock::acquire).isInstanceOf(StoreUnavailableException.class);
        assertThatThrownBy(lock::tryAcquire).isInstanceOf(StoreUnavailableException.class);

        awaitKinds("Waiting a", "NotAcquired a", "NotAcquired a");
        assertThat(ear.all(NotAcquired.class)).extracting(NotAcquired::reason).containsOnly(Reason.STORE_FAILED);
    }

    @Test
    void renewalsAreHeardOfAndSoAreThoseWithoutAnAnswer() throws InterruptedException {
        try (Hold hold = lock.acquire()) {
            time.advance(Duration.ofSeconds(11));
            line.renewals = UnreliableStore.Line.REQUEST_LOST;
            time.advance(Duration.ofSeconds(10));

            awaitKinds("Waiting a", "Acquired a", "Renewed a", "RenewalFailed a");
            assertThat(ear.only(Renewed.class).token()).isEqualTo(hold.token());
            assertThat(ear.only(Renewed.class).remaining()).isBetween(Duration.ofSeconds(29), Duration.ofSeconds(30));
            assertThat(ear.only(RenewalFailed.class).reason()).isEqualTo("the line is down");
            assertThat(hold.isValid()).isTrue();
        }
    }

    @Test
    void aDoubtIsHeardOfAndEndsWithARenewal() throws InterruptedException {
        try (Hold hold = lock.acquire()) {
            time.sleepMachine(Duration.ofSeconds(3));
            assertThat(hold.isValid()).isFalse();
            time.advance(Duration.ofMillis(1));

            awaitKinds("Waiting a", "Acquired a", "Suspect a", "Renewed a");
            assertThat(ear.only(Suspect.class).token()).isEqualTo(hold.token());
        }
    }

    @Test
    void aLossEndsAHoldInsteadOfARelease() throws InterruptedException {
        Hold hold = lock.acquire();
        Breaking.shown(memory.open(time), "a", true);
        time.advance(Duration.ofSeconds(11));
        assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);

        awaitKinds("Waiting a", "Acquired a", "Loss a");
        assertThat(ear.only(Loss.class))
                .isEqualTo(new Loss("a", hold.token(), Loss.Cause.GONE_FROM_STORE, line.description()));
    }

    @Test
    void aLossFoundOnlyWhenItIsReleasedFollowsTheRelease() throws InterruptedException {
        Hold hold = client.lock("a", AWAITED).acquire();
        Breaking.shown(client, "a", true);
        assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);

        awaitKinds("Waiting a", "Acquired a", "Released a", "Loss a");
    }

    @Test
    void aReleaseThatFailsSaysWhenTheLockIsFree() throws InterruptedException {
        Hold hold = lock.acquire();
        line.releases = UnreliableStore.Line.REQUEST_LOST;
        hold.close();

        awaitKinds("Waiting a", "Acquired a", "Released a", "ReleaseFailed a");
        assertThat(ear.only(ReleaseFailed.class))
                .isEqualTo(new ReleaseFailed(
                        "a", hold.token(), Duration.ofSeconds(30), "the line is down", line.description()));

        line.releases = UnreliableStore.Line.UP;
        time.advance(Duration.ofSeconds(1));
        assertThat(client.lock("a").status().isHeld()).isFalse();
        assertThat(ear.all(ReleaseFailed.class)).as("reported once").hasSize(1);
    }

    @Test
    void aLeakIsHeardOfBeforeTheLossItLeadsTo() throws InterruptedException {
        WeakReference<Hold> leaked = leak();
        await().until(() -> {
            System.gc();
            return leaked.get() == null;
        });
        await().until(() -> {
            System.gc();
            time.advance(Duration.ofSeconds(1));
            return ear.kinds().contains("Leaked a");
        });
        time.advance(Duration.ofSeconds(40));

        await().until(() -> ear.kinds().contains("Loss a"));
        assertThat(ear.only(Loss.class).cause()).isEqualTo(Loss.Cause.LEAKED);
        assertThat(ear.kinds().indexOf("Leaked a")).isLessThan(ear.kinds().indexOf("Loss a"));
        assertThat(ear.only(LockEvent.Leaked.class).origin())
                .contains("by thread '" + Thread.currentThread().getName() + "'");
    }

    private WeakReference<Hold> leak() throws InterruptedException {
        return new WeakReference<>(lock.acquire());
    }

    @Test
    @Tag("thorough")
    void afterAFirstLeakThePlaceOfEachAcquisitionIsKnown() throws InterruptedException {
        lock.acquire().close(); // the first caller of a client is one of the sample, the second is not

        awaitLeak(leak());
        time.advance(Duration.ofSeconds(40));
        awaitLeak(leak());

        List<String> origins = ear.all(LockEvent.Leaked.class).stream()
                .map(LockEvent.Leaked::origin)
                .toList();
        assertThat(origins.get(0)).contains("not recorded");
        assertThat(origins.get(1)).startsWith("at ").doesNotContain("not recorded");
    }

    /** Returns when the renewer has found it, too. */
    private void awaitLeak(WeakReference<Hold> leaked) {
        int before = ear.all(LockEvent.Leaked.class).size();
        await().until(() -> {
            System.gc();
            time.advance(Duration.ofSeconds(1));
            return leaked.get() == null && ear.all(LockEvent.Leaked.class).size() > before;
        });
    }

    @Test
    void reEntryIsNoEvent() throws InterruptedException {
        DistributedLock reentrant = client.lock("a", HoldOptions.defaults().reentrant(true));
        try (Hold outer = reentrant.acquire();
                Hold inner = reentrant.acquire()) {
            assertThat(inner.token()).isEqualTo(outer.token());
        }
        awaitKinds("Waiting a", "Acquired a", "Released a");
    }

    @Test
    void whoWaitsWhenTheClientIsClosedIsHeardOf() throws InterruptedException {
        Hold hold = lock.acquire();
        CompletableFuture<Hold> waiting = lock.acquireAsync();
        client.close();

        await().untilAsserted(
                        () -> assertThat(waiting).isCompletedExceptionally().isNotCancelled());
        assertThat(hold.isValid()).isFalse();
        await().until(() -> ear.heard.size() == 5);
        assertThat(ear.only(NotAcquired.class).reason()).isEqualTo(Reason.CLIENT_CLOSED);
        assertThat(ear.only(Loss.class).cause()).isEqualTo(Loss.Cause.CLIENT_CLOSED);
    }

    @Test
    void listenersAreCalledOnOneThreadThatIsNotTheCallers() throws InterruptedException {
        lock.acquire().close();
        awaitKinds("Waiting a", "Acquired a", "Released a");
        assertThat(ear.threads).hasSize(1).doesNotContain(Thread.currentThread());
        assertThat(ear.threads).allMatch(thread -> thread.getName().matches("holdfast-\\d+-listeners"));
        assertThat(ear.threads).allMatch(Thread::isDaemon);
    }

    @Test
    void aListenerThatBlocksDelaysNoLock() throws InterruptedException {
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        LockListener slow = new LockListener() {
            @Override
            public void onAcquired(Acquired event) {
                called.countDown();
                try {
                    go.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        };
        try (LockClient delayed =
                LockClient.builder(memory.open(time)).time(time).listener(slow).build()) {
            delayed.lock("b").acquire().close();
            called.await();
            for (int i = 0; i < 100; i++) {
                delayed.lock("b").acquire().close();
            }
            assertThat(delayed.statistics().releases()).isEqualTo(101);
            go.countDown();
        }
    }

    @Test
    void aListenerThatThrowsKeepsNothingFromTheOthers() throws InterruptedException {
        Ear other = new Ear();
        LockListener broken = new LockListener() {
            @Override
            public void onAcquired(Acquired event) {
                throw new StackOverflowError("recursion");
            }

            @Override
            public void onReleased(Released event) {
                throw new IllegalStateException("broken");
            }
        };
        try (LockClient both = LockClient.builder(memory.open(time))
                .time(time)
                .listener(broken)
                .listener(other)
                .build()) {
            both.lock("b").acquire().close();
            await().untilAsserted(
                            () -> assertThat(other.kinds()).containsExactly("Waiting b", "Acquired b", "Released b"));
        }
    }

    @Test
    void aListenerThatFallsBehindLosesEventsButNoLosses() throws InterruptedException {
        int events = 10_000;
        CountDownLatch go = new CountDownLatch(1);
        Ear late = new Ear();
        LockListener blocked = new LockListener() {
            @Override
            public void onWaiting(LockEvent.Waiting event) {
                try {
                    go.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        };
        try (LogEar log = new LogEar();
                LockClient flooded = LockClient.builder(memory.open(time))
                        .time(time)
                        .listener(blocked)
                        .listener(late)
                        .build()) {
            DistributedLock quick = flooded.lock("b");
            for (int i = 0; i < events / 4; i++) {
                quick.acquire().close();
            }
            Hold hold = quick.acquire();
            Breaking.shown(memory.open(time), "b", true);
            time.advance(Duration.ofSeconds(11));
            assertThat(hold.isValid()).isFalse();
            long dropped = flooded.statistics().droppedEvents();
            assertThat(dropped).isPositive();
            assertThat(log.with("too slow"))
                    .singleElement()
                    .asString()
                    .contains("'b'", "mem:", "make the listeners faster")
                    .hasLineCount(1);
            go.countDown();
            await().until(() -> !late.all(Loss.class).isEmpty());
            quick.acquire().close();
            await().until(() -> late.all(Released.class).stream().anyMatch(event -> event.token() > hold.token()));
            assertThat(flooded.statistics().droppedEvents()).isEqualTo(dropped);
        }
    }
}
