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
import org.junit.jupiter.api.*;

/** Two valid holds, tokens that fall, losses never told. */
@Timeout(30)
@SuppressWarnings("SuperCallToObjectMethod") // one test stops a thread inside its own hashCode
class EngineSafetyTest {
    final ManualTime time = new ManualTime();
    final ManualTime storeTime = time;
    final MemoryStore memory = new MemoryStore(time);
    final HostileStore line = new HostileStore(memory.open(time));
    final LockClient client =
            LockClient.builder(line).time(time).executor(Runnable::run).build();
    final LockClient rival = LockClient.builder(memory.open(time))
            .time(time)
            .executor(Runnable::run)
            .build();
    final List<Loss> losses = new CopyOnWriteArrayList<>();

    static Duration s(double sec) {
        return Duration.ofNanos((long) (sec * 1e9));
    }

    static HoldOptions lease(double sec) {
        return HoldOptions.defaults().lease(s(sec)).handOver(64, Duration.ofMinutes(1));
    }

    /** An ordered store; the keeper's renewal (old lease) is sent after the hand-over's renewal (new, longer lease). */
    @Test
    void keeperRenewalCrossingAHandOverLeavesAShortLeaseInTheStore() throws Exception {
        Hold first = client.lock("a", lease(5)).acquire();
        CompletableFuture<Hold> next = client.lock("a", lease(90)).acquireAsync();
        time.advance(s(1.5));
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        line.renews = slow;
        first.close(); // renews for 90 s; the reply is on its way
        time.advance(s(0.3)); // the keeper's tick renews for 5 s
        line.renews = HostileStore.PASS;
        slow.open.complete(null);
        Hold second = next.getNow(null);
        assertThat(second.isValid()).isTrue();
        time.advance(s(6));
        Optional<Hold> rivals = rival.lock("a").tryAcquire();
        assertThat(rivals.isPresent() && rivals.get().isValid() && second.isValid())
                .as("two valid holds; ours for another " + second.remaining())
                .isFalse();
    }

    @Test
    void unorderedStoreKeeperRenewalInFlightProcessedAfterHandOver() throws Exception {
        line.caps = c -> HostileStore.with(c, false, false, true);
        LockClient unordered =
                LockClient.builder(line).time(time).executor(Runnable::run).build();
        Hold first = unordered.lock("a", lease(6)).acquire();
        CompletableFuture<Hold> next =
                unordered.lock("a", lease(90).autoRenew(false)).acquireAsync();
        HostileStore.HoldRequest late = new HostileStore.HoldRequest();
        line.renews = late;
        time.advance(s(2.1));
        assertThat(late.held.get()).isPositive();
        line.renews = HostileStore.PASS;
        first.close();
        late.open.complete(null);
        Hold second = next.getNow(null);
        time.advance(s(10));
        Optional<Hold> rivals = rival.lock("a").tryAcquire();
        assertThat(rivals.isPresent() && rivals.get().isValid() && second.isValid())
                .isFalse();
    }

    /** Ordered store; a fixed hold is doubted while extend() is under way. */
    @Test
    void aDoubtDuringExtendLeavesTheOldLeaseInTheStore() throws Exception {
        Hold hold = client.lock("a", HoldOptions.defaults().autoRenew(false)).acquire();
        time.advance(s(20));
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        line.renews = slow;
        CompletableFuture<Void> extending = CompletableFuture.runAsync(() -> hold.extend(s(300)));
        await().until(() -> slow.held.get() > 0);
        line.listener.suspect(new Grant(new ClaimId(hold.id()), List.of("a"), Mode.EXCLUSIVE, s(30), List.of(1L), 0));
        time.advance(s(0.01)); // the keeper asks again, for the 10 s that it knows of
        slow.open.complete(null);
        extending.join();
        time.advance(s(11));
        Optional<Hold> rivals = rival.lock("a").tryAcquire();
        assertThat(rivals.isPresent() && rivals.get().isValid() && hold.isValid())
                .as("two valid holds; ours for " + hold.remaining())
                .isFalse();
    }

    /** extend() under way while another thread closes: its answer brings the old grant number back. */
    @Test
    void lateExtendAnswerRestoresTheOldNumberAndTokensFall() throws Exception {
        HoldOptions fixed = HoldOptions.defaults().autoRenew(false).handOver(0, Duration.ofMinutes(1));
        HoldOptions loose = HoldOptions.defaults().autoRenew(false).handOver(64, Duration.ofMinutes(1));
        Hold first = client.lock("a", fixed).acquire();
        CompletableFuture<Hold> b = client.lock("a", fixed).acquireAsync();
        CompletableFuture<Hold> c = client.lock("a", loose).acquireAsync();
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        line.renews = slow;
        CompletableFuture<Void> extending = CompletableFuture.runAsync(() -> first.extend(s(30)));
        await().until(() -> slow.held.get() > 0);
        line.renews = HostileStore.PASS;
        first.close(); // fresh number for b
        Hold second = b.getNow(null);
        slow.open.complete(null);
        await().until(extending::isDone);
        second.close();
        Hold third = c.getNow(null);
        assertThat(third.token()).as("after " + second.token()).isGreaterThan(second.token());
    }

    /** The working tree of 29 min: a renewal is over before its answer is applied, so a second one fits between. */
    @Test
    void anExtendBetweenTheAnswerAndItsEffect() throws Exception {
        HookedTime hooked = new HookedTime(time);
        HostileStore wire = new HostileStore(memory.open(time));
        LockClient c =
                LockClient.builder(wire).time(hooked).executor(Runnable::run).build();
        Hold hold = c.lock("a", HoldOptions.defaults().autoRenew(false)).acquire();
        AtomicBoolean once = new AtomicBoolean();
        hooked.hook = () -> {
            boolean applying = StackWalker.getInstance()
                    .walk(f -> f.limit(8).anyMatch(x -> x.getMethodName().equals("change")));
            if (applying && once.compareAndSet(false, true)) {
                Thread t = new Thread(() -> hold.extend(s(1)));
                t.start();
                try {
                    t.join(2000);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        };
        hold.extend(s(60));
        Thread.sleep(100);
        time.advance(s(1.5));
        Optional<Hold> rivals = rival.lock("a").tryAcquire();
        assertThat(rivals.isPresent() && rivals.get().isValid() && hold.isValid())
                .as("two valid holds; ours for " + hold.remaining())
                .isFalse();
    }

    /** The machine sleeps between the sending of a claim and its answer. */
    @Test
    void machineSleepsWhileTheClaimIsUnderWay() throws Exception {
        ManualTime servers = new ManualTime();
        MemoryStore server = new MemoryStore(servers);
        HostileStore wire = new HostileStore(server.open(time));
        LockClient sleeper =
                LockClient.builder(wire).time(time).executor(Runnable::run).build();
        LockClient awake = LockClient.builder(server.open(servers))
                .time(servers)
                .executor(Runnable::run)
                .build();
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        wire.claims = slow;
        CompletableFuture<Hold> claim = sleeper.lock("a").acquireAsync();
        time.sleepMachine(s(60)); // nanoTime stands still, the world does not
        servers.advance(s(60));
        Hold rivals = awake.lock("a").tryAcquire().orElseThrow();
        slow.open.complete(null);
        Hold mine = claim.getNow(null);
        assertThat(rivals.isValid()).isTrue();
        assertThat(mine != null && mine.isValid()).as("two valid holds").isFalse();
    }

    /** A renewal sent before the store raised doubt clears the doubt. */
    @Test
    void anAnswerOlderThanTheDoubtConfirms() throws Exception {
        Hold hold = client.lock("a").acquire();
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        line.renews = slow;
        time.advance(s(10.1)); // handled by the store, the reply is on its way
        line.renews = HostileStore.PASS;
        memoryRevoke(); // the server lost it: restart, failover
        line.listener.suspect(new Grant(new ClaimId(hold.id()), List.of("a"), Mode.EXCLUSIVE, s(30), List.of(1L), 0));
        assertThat(hold.isValid()).isFalse();
        Hold rivals = rival.lock("a").tryAcquire().orElseThrow();
        slow.open.complete(null);
        time.advance(s(0.01));
        assertThat(hold.isValid() && rivals.isValid())
                .as("two valid holds for " + hold.remaining())
                .isFalse();
    }

    private void memoryRevoke() {
        rival.revoke("a", true);
    }

    /** On a session-bound store a lease is the session's; extend(7 days) makes the client believe in 7 days. */
    @Test
    void extendBelievesInNoMoreThanTheSession() throws Exception {
        HostileStore session = new HostileStore(memory.open(time));
        session.caps = c -> HostileStore.with(c, true, true, true);
        Duration timeout = s(10);
        SessionBound bound = new SessionBound(session, timeout);
        LockClient zk =
                LockClient.builder(bound).time(time).executor(Runnable::run).build();
        Hold hold = zk.lock("a", HoldOptions.defaults().autoRenew(false)).acquire();
        assertThat(hold.remaining()).isLessThanOrEqualTo(timeout);
        hold.extend(Duration.ofHours(1));
        assertThat(hold.remaining()).isLessThanOrEqualTo(timeout);
    }

    /** A store whose grants live as long as its session: any lease asked for is the session's. */
    static final class SessionBound implements Store {
        final Store s;
        final Duration timeout;

        SessionBound(Store s, Duration timeout) {
            this.s = s;
            this.timeout = timeout;
        }

        @Override
        public String description() {
            return "session";
        }

        @Override
        public Capabilities capabilities() {
            return s.capabilities();
        }

        @Override
        public void listen(StoreListener l) {
            s.listen(l);
        }

        @Override
        public Pending claim(Claim c) {
            return s.claim(new Claim(c.id(), c.names(), c.mode(), timeout, c.waits(), c.floor(), c.holder()));
        }

        @Override
        public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> g) {
            return s.renew(g.stream().map(x -> x.withLease(timeout)).toList());
        }

        @Override
        public CompletionStage<Optional<Grant>> extend(Grant g) {
            return s.extend(g.withLease(timeout));
        }

        @Override
        public CompletionStage<Boolean> release(Grant g) {
            return s.release(g);
        }

        @Override
        public CompletionStage<Void> withdraw(Claim c) {
            return s.withdraw(c);
        }

        @Override
        public CompletionStage<LockStatus> status(String n) {
            return s.status(n);
        }

        @Override
        public CompletionStage<List<LockStatus>> list(String p) {
            return s.list(p);
        }

        @Override
        public CompletionStage<Boolean> revoke(String n, boolean now) {
            return s.revoke(n, now);
        }

        @Override
        public void close() {
            s.close();
        }
    }

    static final class OddThread extends Thread {
        final AtomicReference<CountDownLatch> block = new AtomicReference<>();
        final CountDownLatch inHash = new CountDownLatch(1);

        OddThread(Runnable r) {
            super(r);
        }

        @Override
        public int hashCode() {
            CountDownLatch b = block.get();
            if (b != null && Thread.currentThread() != this) {
                inHash.countDown();
                try {
                    b.await(5, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
            return super.hashCode();
        }
    }

    /** The outcome is set before owners.put: a waiter that looks up early returns from lock() without owning. */
    @Test
    void ownerIsRegisteredAfterTheOutcomeIsVisible() throws Exception {
        Hold hold = client.lock("a").acquire();
        Lock lock = client.lock("a").asLock();
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        AtomicBoolean locked = new AtomicBoolean();
        CountDownLatch go = new CountDownLatch(1);
        OddThread waiter = new OddThread(() -> {
            try {
                lock.lock();
                locked.set(true);
                lock.unlock();
            } catch (Throwable t) {
                thrown.set(t);
            }
        });
        waiter.start();
        await().until(() -> waiter.getState() == Thread.State.WAITING);
        waiter.block.set(go);
        Thread closer = new Thread(hold::close); // hands over; stopped just before owners.put
        closer.start();
        waiter.inHash.await(5, TimeUnit.SECONDS);
        LockSupport.unpark(waiter); // a spurious wake-up, as any interrupt or leftover permit would be
        await().until(() -> locked.get() || thrown.get() != null);
        await().until(() -> !waiter.isAlive());
        go.countDown();
        closer.join();
        assertThat(thrown.get()).as("unlock() of a lock held").isNull();
    }

    /** The same on ordinary threads, without a hook. */
    @Test
    void ownerRaceOnOrdinaryThreads() throws Exception {
        LockClient real = LockClient.builder(new MemoryStore().open()).build();
        AtomicInteger refused = new AtomicInteger();
        AtomicReference<Throwable> example = new AtomicReference<>();
        AtomicBoolean stop = new AtomicBoolean();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++) {
            Thread t = new Thread(() -> {
                Lock lock = real.lock("a").asLock();
                while (!stop.get()) {
                    lock.lock();
                    try {
                        lock.unlock();
                    } catch (IllegalMonitorStateException e) {
                        refused.incrementAndGet();
                        example.set(e);
                        stop.set(true);
                    }
                }
            });
            t.setDaemon(true);
            t.start();
            threads.add(t);
        }
        Thread nag = new Thread(() -> {
            while (!stop.get()) {
                for (Thread t : threads) {
                    LockSupport.unpark(t);
                }
            }
        });
        nag.setDaemon(true);
        nag.start();
        for (int i = 0; i < 100 && !stop.get(); i++) {
            Thread.sleep(100);
        }
        stop.set(true);
        nag.join();
        assertThat(refused).as("unlock refused: " + example.get()).hasValue(0);
    }

    /** The same on ordinary threads, without a hook. */
    @Test
    void ownerRaceWithInterrupts() throws Exception {
        LockClient real = LockClient.builder(new MemoryStore().open()).build();
        AtomicInteger refused = new AtomicInteger();
        AtomicReference<Throwable> example = new AtomicReference<>();
        AtomicBoolean stop = new AtomicBoolean();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++) {
            Thread t = new Thread(() -> {
                Lock lock = real.lock("a").asLock();
                while (!stop.get()) {
                    lock.lock();
                    try {
                        lock.unlock();
                    } catch (IllegalMonitorStateException e) {
                        refused.incrementAndGet();
                        example.set(e);
                        stop.set(true);
                    }
                }
            });
            t.setDaemon(true);
            t.start();
            threads.add(t);
        }
        Thread nag = new Thread(() -> {
            while (!stop.get()) {
                for (Thread t : List.copyOf(threads)) {
                    t.interrupt();
                }
            }
        });
        nag.setDaemon(true);
        nag.start();
        for (int i = 0; i < 100 && !stop.get(); i++) {
            Thread.sleep(100);
        }
        stop.set(true);
        nag.join();
        assertThat(refused).as("unlock refused: " + example.get()).hasValue(0);
    }

    /** Same, with reentrant acquire(): the late owners.put leaves a closed hold that the thread then "re-enters". */
    @Test
    void aClosedHoldIsReentered() throws Exception {
        Hold hold = client.lock("a").acquire();
        DistributedLock re = client.lock("a", HoldOptions.defaults().reentrant(true));
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch put = new CountDownLatch(1);
        CountDownLatch closing = new CountDownLatch(1);
        AtomicReference<Hold> second = new AtomicReference<>();
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        OddThread waiter = new OddThread(() -> {
            try {
                Hold first = re.acquire();
                closing.countDown();
                first.close();
                put.await();
                second.set(re.tryAcquire().orElse(null));
            } catch (Throwable t) {
                thrown.set(t);
            }
        });
        waiter.start();
        await().until(() -> waiter.getState() == Thread.State.WAITING);
        waiter.block.set(go);
        Thread closer = new Thread(hold::close);
        closer.start();
        waiter.inHash.await(5, TimeUnit.SECONDS);
        LockSupport.unpark(waiter);
        closing.await();
        await().until(() -> waiter.getState() == Thread.State.WAITING);
        go.countDown();
        closer.join();
        await().until(() -> waiter.getState() == Thread.State.WAITING || !waiter.isAlive());
        Thread.sleep(50);
        Hold rivals = rival.lock("a").tryAcquire().orElseThrow();
        put.countDown();
        waiter.join();
        assertThat(thrown.get()).isNull();
        assertThat(second.get())
                .as("acquired while a rival holds it: " + second.get() + " / " + rivals)
                .isNull();
    }

    /** The hold's owner thread still has it through asLock(), yet it is taken for leaked. */
    @Test
    void asLockThatReenteredAHoldIsTakenForALeak() throws Exception {
        DistributedLock re = client.lock("a", HoldOptions.defaults().reentrant(true));
        Lock lock = re.asLock();
        enterAndClose(re, lock);
        for (int i = 0; i < 40; i++) {
            Thread.sleep(5);
            System.gc();
            time.advance(s(5));
        }
        assertThat(rival.lock("a").tryAcquire())
                .as("our thread lives and has not unlocked")
                .isEmpty();
        lock.unlock();
    }

    private static void enterAndClose(DistributedLock re, Lock lock) throws Exception {
        try (Hold hold = re.acquire()) {
            lock.lock();
        }
    }

    /** Time that runs a hook in nanoTime(). */
    static final class HookedTime implements TimeSource {
        final ManualTime t;
        volatile Runnable hook = () -> {};

        HookedTime(ManualTime t) {
            this.t = t;
        }

        @Override
        public long nanoTime() {
            hook.run();
            return t.nanoTime();
        }

        @Override
        public long wallMillis() {
            return t.wallMillis();
        }

        @Override
        public Scheduled schedule(Runnable r, Duration d) {
            return t.schedule(r, d);
        }
    }

    /** The keeper decides that A was held too long while A is closed and its grant goes to B. */
    @Test
    void theNextHolderPaysForTheLastOnesMaximumHold() throws Exception {
        HookedTime hooked = new HookedTime(time);
        HostileStore wire = new HostileStore(memory.open(time));
        LockClient c =
                LockClient.builder(wire).time(hooked).executor(Runnable::run).build();
        HoldOptions most = lease(30).maxHold(s(10));
        Hold a = c.lock("a", most).acquire();
        CompletableFuture<Hold> next = c.lock("a", lease(30)).acquireAsync();
        AtomicBoolean once = new AtomicBoolean();
        hooked.hook = () -> {
            boolean inCheck = StackWalker.getInstance()
                    .walk(f -> f.limit(8).anyMatch(x -> x.getMethodName().startsWith("lambda$stopIfHeldTooLong")));
            if (inCheck && once.compareAndSet(false, true)) {
                Thread t = new Thread(a::close);
                t.start();
                try {
                    t.join();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        };
        time.advance(s(10.1));
        assertThat(once).isTrue();
        Hold b = next.getNow(null);
        b.onLost(losses::add);
        time.advance(s(60));
        b.isValid();
        Thread.sleep(200);
        assertThat(b.isValid())
                .as("b has no maximum hold time; lost: " + losses)
                .isTrue();
    }

    /** A real loss found at a release that is answered while the client closes. */
    @Test
    void aLossFoundWhileTheClientClosesIsTold() throws Exception {
        for (int i = 0; i < 20; i++) {
            HostileStore wire = new HostileStore(memory.open(time));
            LockClient c = LockClient.builder(wire).time(time).build();
            List<Loss> told = new CopyOnWriteArrayList<>();
            Hold hold = c.lock("b").acquire();
            hold.onLost(told::add);
            rival.revoke("b", true);
            HostileStore.HoldReply slow = new HostileStore.HoldReply();
            wire.releases = slow;
            hold.close();
            Thread closer = new Thread(c::close);
            closer.start();
            await().until(() -> closer.getState() == Thread.State.TIMED_WAITING);
            slow.open.complete(null);
            closer.join();
            await().until(() -> !told.isEmpty());
            assertThat(hold.isValid()).isFalse();
        }
    }

    /** A loss found at an asynchronous release, after the Hold was collected. */
    @Test
    void aLossFoundAtTheReleaseIsNotToldOnceTheHoldIsCollected() throws Exception {
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        acquireListenClose(slow);
        for (int i = 0; i < 5; i++) {
            System.gc();
            Thread.sleep(20);
        }
        slow.open.complete(null);
        await().until(() -> losses.size() == 1);
    }

    private void acquireListenClose(HostileStore.HoldReply slow) throws Exception {
        Hold hold = client.lock("a").acquire();
        hold.onLost(losses::add);
        rival.revoke("a", true);
        line.releases = slow;
        hold.close();
    }

    /** close() of the client gives back what a concurrent close() of the hold is giving back. */
    @Test
    void clientCloseMakesAGoodCloseALoss() throws Exception {
        Hold hold = client.lock("a").acquire();
        hold.onLost(losses::add);
        CompletableFuture<Hold> waiting = client.lock("a").acquireAsync();
        HostileStore.HoldRequest late = new HostileStore.HoldRequest();
        waiting.whenComplete((h, f) -> { // client.close() fails the waiters first
            line.releases = late;
            hold.close();
            line.releases = HostileStore.PASS;
        });
        List<String> warned = new CopyOnWriteArrayList<>();
        java.util.logging.Handler ear = new java.util.logging.Handler() {
            @Override
            public void publish(java.util.logging.LogRecord r) {
                warned.add(r.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        java.util.logging.Logger.getLogger("dev.holdfast").addHandler(ear);
        Thread opener = new Thread(() -> {
            await().until(() -> line.released.size() >= 2 || late.held.get() > 0);
            try {
                Thread.sleep(300);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            late.open.complete(null);
        });
        opener.start();
        client.close();
        opener.join();
        Thread.sleep(100);
        java.util.logging.Logger.getLogger("dev.holdfast").removeHandler(ear);
        assertThat(warned).as("closed in time, before the client gave it back").isEmpty();
    }
}
