package dev.holdfast;

import static org.assertj.core.api.Assertions.*;
import static org.awaitility.Awaitility.await;

import dev.holdfast.memory.*;
import dev.holdfast.spi.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;
import java.util.logging.*;
import org.junit.jupiter.api.*;

/** Waiters never woken, releases never sent, holds renewed for ever. */
@Timeout(30)
class EngineLivenessTest {
    final ManualTime time = new ManualTime();
    final MemoryStore memory = new MemoryStore(time);
    final HostileStore line = new HostileStore(memory.open(time));
    LockClient client =
            LockClient.builder(line).time(time).executor(Runnable::run).build();
    final LockClient rival = LockClient.builder(memory.open(time))
            .time(time)
            .executor(Runnable::run)
            .build();
    final List<Loss> losses = new CopyOnWriteArrayList<>();

    static Duration s(double sec) {
        return Duration.ofNanos((long) (sec * 1e9));
    }

    static Throwable failureOf(CompletableFuture<?> f) {
        try {
            f.get(1, TimeUnit.SECONDS);
            return null;
        } catch (ExecutionException e) {
            return e.getCause();
        } catch (Exception e) {
            return e;
        }
    }

    /** Calls in a thread of its own; what it threw, or "hangs". */
    static Object outcome(Callable<?> call) throws Exception {
        FutureTask<Object> task = new FutureTask<>(() -> {
            try {
                return String.valueOf(call.call());
            } catch (Throwable t) {
                return t;
            }
        });
        Thread t = new Thread(task);
        t.setDaemon(true);
        t.start();
        try {
            return task.get(2, TimeUnit.SECONDS);
        } catch (TimeoutException hangs) {
            return "HANGS";
        }
    }

    @Test
    void aDamagedCounterHangsTheCallerAndIsRenewedForEver() throws Exception {
        line.grantMap =
                g -> new Grant(g.id(), g.names(), g.mode(), g.lease(), List.of(Long.MAX_VALUE / 1024), g.sentNanos());
        Object got = outcome(() -> client.lock("a").acquire());
        int before = line.renewed.size();
        for (int i = 0; i < 10; i++) time.advance(s(10));
        SoftAssertionsBox.all(
                () -> assertThat(got).as("acquire").isInstanceOf(StoreRefusedException.class),
                () -> assertThat(line.renewed.size() - before)
                        .as("renewals of a grant nobody has")
                        .isZero(),
                () -> assertThat(rival.lock("a").tryAcquire()).as("free again").isPresent());
    }

    static final class SoftAssertionsBox {
        static void all(Runnable... checks) {
            List<Throwable> failed = new ArrayList<>();
            for (Runnable r : checks) {
                try {
                    r.run();
                } catch (AssertionError e) {
                    failed.add(e);
                }
            }
            if (!failed.isEmpty()) {
                throw new AssertionError(
                        failed.stream().map(Throwable::getMessage).toList().toString());
            }
        }
    }

    static AutoCloseable throwingLog() {
        Logger log = Logger.getLogger("dev.holdfast");
        Handler bad = new Handler() {
            @Override
            public void publish(LogRecord r) {
                if (r.getLevel().intValue() >= Level.WARNING.intValue())
                    throw new IllegalStateException("handler broken");
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        log.addHandler(bad);
        return () -> log.removeHandler(bad);
    }

    @Test
    void aLogHandlerThatThrowsEndsAllRenewals() throws Exception {
        try (AutoCloseable x = throwingLog()) {
            Hold other = client.lock("b").acquire();
            @SuppressWarnings("UnusedVariable") // kept, so that it is not a leak
            Hold fixed = client.lock(
                            "a", HoldOptions.defaults().autoRenew(false).lease(s(1)))
                    .acquire();
            try {
                time.advance(s(2)); // fixed is lost; telling throws
            } catch (IllegalStateException inTimer) {
                // a scheduled executor swallows it
            }
            for (int i = 0; i < 60; i++) {
                try {
                    time.advance(s(1));
                } catch (IllegalStateException inTimer) {
                    // same
                }
            }
            assertThat(other.isValid())
                    .as("another hold of the client is renewed on")
                    .isTrue();
        }
    }

    @Test
    void aLogHandlerThatThrowsHangsTheNextWaiter() throws Exception {
        try (AutoCloseable x = throwingLog()) {
            Hold fixed = client.lock(
                            "a", HoldOptions.defaults().autoRenew(false).lease(s(1)))
                    .acquire();
            fixed.onLost(losses::add);
            CompletableFuture<Hold> next = client.lock("a").acquireAsync();
            try {
                time.advance(s(2));
            } catch (IllegalStateException inTimer) {
                // a scheduled executor swallows it
            }
            for (int i = 0; i < 60; i++) time.advance(s(1));
            await().pollDelay(Duration.ofMillis(200)).until(() -> true);
            SoftAssertionsBox.all(
                    () -> assertThat(next).as("the next waiter").isDone(),
                    () -> assertThat(losses).as("onLost").hasSize(1));
        }
    }

    @Test
    void aLogHandlerThatThrowsHangsAnAwaitedClose() throws Exception {
        try (AutoCloseable x = throwingLog()) {
            Hold hold =
                    client.lock("a", HoldOptions.defaults().awaitRelease(true)).acquire();
            line.releases = new HostileStore.RequestLost();
            Object got = outcome(() -> {
                hold.close();
                return "closed";
            });
            assertThat(got).isEqualTo("closed");
        }
    }

    /** extend() whose reply was lost moved the lease; the hold is lost locally and never released. */
    @Test
    void aLostExtendReplyBlocksTheLockForTheWholeNewLease() throws Exception {
        Hold hold = client.lock("a", HoldOptions.defaults().autoRenew(false)).acquire();
        line.renews = new HostileStore.ReplyLost();
        assertThatThrownBy(() -> hold.extend(Duration.ofDays(7))).isInstanceOf(StoreUnavailableException.class);
        line.renews = HostileStore.PASS;
        time.advance(s(31));
        assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
        time.advance(s(31));
        assertThat(rival.lock("a").tryAcquire())
                .as("lost and closed a lease ago; releases sent: " + line.released.size())
                .isPresent();
    }

    /** The deadline passes while the grant is being renewed for the next holder. */
    @Test
    void anExpiryDuringHandOverLeavesTheNewLeaseInTheStore() throws Exception {
        HoldOptions fixed = HoldOptions.defaults().autoRenew(false).handOver(64, Duration.ofMinutes(1));
        Hold hold = client.lock("a", fixed.lease(s(1))).acquire();
        CompletableFuture<Hold> next =
                client.lock("a", fixed.lease(Duration.ofDays(7))).acquireAsync();
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        line.renews = slow;
        hold.close();
        time.advance(s(1.2));
        slow.open.complete(null);
        for (int i = 0; i < 10; i++) time.advance(s(10));
        assertThat(next)
                .as("waits for its own client's forgotten grant; releases sent: " + line.released.size())
                .isDone();
    }

    @Test
    void aTryGrantedWhileTheClientClosesIsNeverEnded() throws Exception {
        LockClient c = LockClient.builder(line).time(time).build();
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        line.claims = slow;
        AtomicReference<Object> got = new AtomicReference<>();
        Thread trier = new Thread(() -> {
            try {
                got.set(c.lock("a").tryAcquire().map(h -> {
                    h.onLost(losses::add);
                    return h;
                }));
            } catch (Throwable t) {
                got.set(t);
            }
        });
        trier.start();
        await().until(() -> slow.held.get() > 0);
        Thread closer = new Thread(c::close);
        closer.start();
        Thread.sleep(300);
        slow.open.complete(null);
        trier.join();
        closer.join();
        for (int i = 0; i < 6; i++) time.advance(s(1));
        Thread.sleep(100);
        System.out.println("A13 got " + got.get() + " losses " + losses + " released " + line.released);
        boolean holdsOpen = got.get() instanceof Optional<?> o && o.isPresent() && ((Hold) o.get()).isValid();
        assertThat(holdsOpen)
                .as("a valid hold of a closed client, never told: " + got.get() + losses)
                .isFalse();
    }

    @Test
    void aTryBehindAPendingReleaseIsGrantedAfterShutDown() throws Exception {
        line.caps = c -> HostileStore.with(c, false, false, true);
        LockClient c = LockClient.builder(line).time(time).build();
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        Hold hold = c.lock("a").acquire();
        line.releases = slow;
        hold.close();
        AtomicReference<Object> got = new AtomicReference<>();
        Thread trier = new Thread(() -> {
            try {
                got.set(c.lock("a").tryAcquire());
            } catch (Throwable t) {
                got.set(t);
            }
        });
        trier.start();
        await().until(() -> trier.getState() == Thread.State.WAITING);
        Thread closer = new Thread(c::close);
        closer.start();
        Thread.sleep(300);
        line.releases = HostileStore.PASS;
        slow.open.complete(null);
        trier.join();
        long start = System.nanoTime();
        closer.join();
        System.out.println(
                "A13b got " + got.get() + " close took on " + (System.nanoTime() - start) / 1_000_000 + " ms");
        boolean holdsOpen = got.get() instanceof Optional<?> o && o.isPresent() && ((Hold) o.get()).isValid();
        assertThat(holdsOpen)
                .as("a valid hold of a closed client: " + got.get())
                .isFalse();
    }

    /** A store that needs between two thirds of a lease and a lease for each answer. */
    @Test
    void aStoreThatAnswersWithinTheLeaseButLateNeverGrants() throws Exception {
        HostileStore.Gate slow = new HostileStore.Gate() {
            @Override
            public <T> CompletionStage<T> run(java.util.function.Supplier<CompletionStage<T>> request) {
                CompletableFuture<T> late = new CompletableFuture<>();
                CompletionStage<T> done = request.get();
                time.schedule(() -> done.thenAccept(late::complete), s(0.7));
                return late;
            }
        };
        line.claims = slow;
        line.renews = slow;
        CompletableFuture<Hold> next =
                client.lock("a", HoldOptions.defaults().lease(s(1))).acquireAsync();
        for (int i = 0; i < 600; i++) time.advance(s(0.1));
        assertThat(next)
                .as("after a minute, " + line.claimed.size() + " claims, " + line.renewed.size() + " renewals")
                .isDone();
    }

    @Test
    void aCancelThatThrowsHangsATimedWait() throws Exception {
        @SuppressWarnings("UnusedVariable") // kept, so that it is not a leak
        Hold held = rival.lock("a").acquire();
        line.onCancel = () -> {
            throw new StoreUnavailableException("connection closed");
        };
        FutureTask<Object> task = new FutureTask<>(() -> client.lock("a").tryAcquire(s(1)));
        Thread t = new Thread(task);
        t.setDaemon(true);
        t.start();
        await().until(() -> t.getState() == Thread.State.WAITING);
        Thread.sleep(50);
        try {
            time.advance(s(2));
        } catch (StoreUnavailableException inTimer) {
            // swallowed by a scheduled executor
        }
        assertThatCode(() -> task.get(2, TimeUnit.SECONDS)).doesNotThrowAnyException();
    }

    @Test
    void anErrorFromTheStoreHangsAllLaterCallers() throws Exception {
        line.claimOverride = c -> {
            throw new NoClassDefFoundError("com/example/Driver");
        };
        Object first = outcome(() -> client.lock("a").acquire());
        line.claimOverride = null;
        Object second = outcome(() -> client.lock("a").acquire());
        assertThat(second).as("first: " + first).isNotEqualTo("HANGS");
    }

    @Test
    void aNullPendingHangsAllLaterCallers() throws Exception {
        line.claimOverride = c -> null;
        Object first = outcome(() -> client.lock("a").acquire());
        line.claimOverride = null;
        Object second = outcome(() -> client.lock("a").acquire());
        assertThat(second).as("first: " + first).isNotEqualTo("HANGS");
    }

    @Test
    void anExecutorThatThrowsHangsOtherWaiters() throws Exception {
        LockClient c = LockClient.builder(line)
                .time(time)
                .executor(task -> {
                    throw new IllegalStateException("executor not started");
                })
                .build();
        HostileStore.HoldRequest gate = new HostileStore.HoldRequest();
        line.claims = gate;
        @SuppressWarnings("UnusedVariable") // kept, so that it is not a leak
        CompletableFuture<Hold> async = c.lock("a").acquireAsync();
        FutureTask<Object> task = new FutureTask<>(() -> {
            try {
                return c.lock("a").acquire();
            } catch (Throwable t) {
                return t;
            }
        });
        Thread t = new Thread(task);
        t.setDaemon(true);
        t.start();
        await().until(() -> t.getState() == Thread.State.WAITING);
        line.claims = HostileStore.PASS;
        gate.open.completeExceptionally(new StoreUnavailableException("down"));
        assertThatCode(() -> task.get(2, TimeUnit.SECONDS))
                .as("the failure is told to the thread too")
                .doesNotThrowAnyException();
    }

    @Test
    void anExecutorThatThrowsInHandOverBreaksTheClosingHolder() throws Exception {
        LockClient c = LockClient.builder(line)
                .time(time)
                .executor(task -> {
                    throw new IllegalStateException("executor not started");
                })
                .build();
        Hold hold = c.lock("a").acquire();
        @SuppressWarnings("UnusedVariable") // kept, so that it is not a leak
        CompletableFuture<Hold> async = c.lock("a").acquireAsync();
        assertThatCode(hold::close)
                .as("close of one who has nothing to do with it")
                .doesNotThrowAnyException();
    }

    @Test
    void aFullExecutorMakesRecursionWithoutBound() throws Exception {
        LockClient c = LockClient.builder(new MemoryStore().open())
                .executor(task -> {
                    throw new RejectedExecutionException("queue full");
                })
                .build();
        Hold hold = c.lock("a").acquire();
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            all.add(c.lock("a").acquireAsync().thenAccept(Hold::close));
        }
        Object closed = outcome(() -> {
            hold.close();
            return "closed";
        });
        assertThat(closed).isEqualTo("closed");
        await().untilAsserted(
                        () -> assertThat(all.stream().filter(f -> !f.isDone()).count())
                                .as("undone")
                                .isZero());
        assertThat(all).noneMatch(CompletableFuture::isCompletedExceptionally);
    }

    /** A grant of a session does not end by itself: whoever stops believing in it must give it back. */
    @Test
    void aSessionBoundGrantIsNotGivenBackAfterItsMaximumHold() throws Exception {
        line.caps = c -> HostileStore.with(c, true, true, true);
        line.grantMap = g -> g.withLease(s(10));
        LockClient c =
                LockClient.builder(line).time(time).executor(Runnable::run).build();
        Hold hold = c.lock("a", HoldOptions.defaults().maxHold(s(20))).acquire();
        hold.onLost(losses::add);
        for (int i = 0; i < 60; i++) time.advance(s(1));
        await().until(() -> losses.size() == 1);
        assertThat(hold.isValid()).isFalse();
        assertThat(line.released).as("releases sent").isNotEmpty();
    }

    @Test
    void aSessionBoundReleaseThatFailsTwiceIsNeverSentAgain() throws Exception {
        line.caps = c -> HostileStore.with(c, true, true, true);
        LockClient c =
                LockClient.builder(line).time(time).executor(Runnable::run).build();
        Hold hold = c.lock("a").acquire();
        line.releases = new HostileStore.RequestLost();
        hold.close();
        time.advance(s(15));
        int sent = line.released.size();
        line.releases = HostileStore.PASS;
        time.advance(s(300));
        assertThat(line.released.size()).as("sent while down: " + sent).isGreaterThan(sent);
    }

    /** A timed-out waiter calls off the claim of somebody else's try. */
    @Test
    void aTimedOutWaiterCancelsAnothersTry() throws Exception {
        HostileStore.HoldRequest gate = new HostileStore.HoldRequest();
        line.claims = gate;
        FutureTask<Optional<Hold>> trying =
                new FutureTask<>(() -> client.lock("a").tryAcquire());
        Thread t = new Thread(trying);
        t.start();
        await().until(() -> gate.held.get() > 0);
        AtomicInteger cancels = new AtomicInteger();
        line.onCancel = cancels::incrementAndGet;
        CompletableFuture<Hold> waiter = client.lock("a").acquireAsync();
        waiter.cancel(true);
        gate.open.complete(null);
        trying.get();
        assertThat(cancels).as("cancels of the try's claim").hasValue(0);
    }

    @Test
    void aNullAnswerToExtendHangsTheQueue() throws Exception {
        HoldOptions strict = HoldOptions.defaults().strictFifo(true);
        Hold hold = client.lock("a", strict).acquire();
        CompletableFuture<Hold> next = client.lock("a", strict).acquireAsync();
        line.extends_ = new HostileStore.Gate() {
            @Override
            public <T> CompletionStage<T> run(java.util.function.Supplier<CompletionStage<T>> request) {
                return CompletableFuture.completedFuture(null);
            }
        };
        hold.close();
        for (int i = 0; i < 60; i++) time.advance(s(1));
        assertThat(next).isDone();
    }

    /** One null map from renew: every grant of the batch is "being renewed" for ever after. */
    @Test
    void aNullAnswerToARenewalEndsRenewal() throws Exception {
        Hold hold = client.lock("a").acquire();
        line.renews = new HostileStore.Gate() {
            @Override
            public <T> CompletionStage<T> run(java.util.function.Supplier<CompletionStage<T>> request) {
                return CompletableFuture.completedFuture(null);
            }
        };
        time.advance(s(10.1));
        line.renews = HostileStore.PASS;
        for (int i = 0; i < 60; i++) time.advance(s(1));
        assertThat(hold.isValid()).as("one bad answer, then good ones").isTrue();
    }

    /** An answer that proves nothing new (same sentNanos): asked again without pause. */
    @Test
    void anAnswerWithTheSameStampMakesAStorm() throws Exception {
        @SuppressWarnings("UnusedVariable") // kept, so that it is not a leak
        Hold hold = client.lock("a").acquire();
        AtomicInteger count = new AtomicInteger();
        line.renews = new HostileStore.Gate() {
            @SuppressWarnings("unchecked")
            @Override
            public <T> CompletionStage<T> run(java.util.function.Supplier<CompletionStage<T>> request) {
                if (count.incrementAndGet() > 10_000) throw new IllegalStateException("storm");
                return request.get().thenApply(m -> {
                    Map<ClaimId, Renewal> out = new HashMap<>();
                    ((Map<ClaimId, Renewal>) m).forEach((k, v) -> out.put(k, Renewal.held(0, false)));
                    return (T) out;
                });
            }
        };
        time.advance(s(10.01));
        assertThat(count.get()).as("renewals in no time").isLessThan(100);
    }

    /** A lost lock whose thread then ends without unlocking stays in the client for ever. */
    @Test
    void locksLostByThreadsThatThenEndedAreKeptForEver() throws Exception {
        LockClient c = LockClient.builder(memory.open(time))
                .time(time)
                .executor(Runnable::run)
                .build();
        CountDownLatch go = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        CountDownLatch locked = new CountDownLatch(50);
        for (int i = 0; i < 50; i++) {
            String name = "n" + i;
            Thread t = new Thread(() -> {
                c.lock(name).asLock().lock();
                locked.countDown();
                try {
                    go.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            t.start();
            threads.add(t);
        }
        locked.await();
        for (int i = 0; i < 50; i++) rival.revoke("n" + i, true);
        time.advance(s(11));
        go.countDown();
        for (Thread t : threads) t.join();
        for (int i = 0; i < 60; i++) time.advance(s(1));
        var ef = LockClient.class.getDeclaredField("engine");
        ef.setAccessible(true);
        Object engine = ef.get(c);
        var lf = engine.getClass().getDeclaredField("locks");
        lf.setAccessible(true);
        assertThat(((Map<?, ?>) lf.get(engine)).size()).as("local locks kept").isZero();
    }
}
