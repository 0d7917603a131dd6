package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Callers at the end of their stack: a close ends its hold, and no lock is left between two states. A close for which
 * not even a frame was left does nothing: such a hold is a leak, and ends with its lease as all leaks do. By its name it
 * begins before shorter tests.
 */
@Timeout(240)
@Tag("thorough") // half a minute
class UsedUpStackTest {
    private static final int STACK = 256 * 1024;
    private static final int FRAMES = 400;
    private static final int STEP = 7;
    private static final HoldOptions BRIEF = HoldOptions.defaults().lease(Duration.ofMillis(200));

    private final MemoryStore memory = new MemoryStore();
    private final LockClient client = LockClient.builder(memory.open()).build();
    private final LockClient rival = LockClient.builder(memory.open()).build();

    /** Code that runs for the first time is loaded and linked, for which no room is reserved. */
    @BeforeEach
    void whatRunsAtTheEndOfAStackHasRunBefore() throws Exception {
        for (int i = 0; i < 30_000; i++) { // compiled: what runs only where the stack has ended is not
            client.lock("often").acquire().close();
        }
        for (int i = 0; i < 20; i++) {
            Hold held = client.lock("before").acquire();
            EngineCase.Started<Hold> next = EngineCase.startAndWaitUntilItWaits(
                    () -> client.lock("before").acquire());
            held.close();
            next.result().close();
            client.readWriteLock("before of readers").read().acquire().close();
            Lock lock = client.lock("before of threads").asLock();
            lock.lock();
            lock.unlock();
            client.lock("before of tries").tryAcquire().ifPresent(Hold::close);
        }
    }

    @AfterEach
    void closeClients() {
        client.close();
        rival.close();
    }

    @Test
    void aHoldIsReleasedHoweverFewFramesAreLeftForItsClose() throws Exception {
        for (int left = 0; left < FRAMES; left += STEP) {
            atEndOfStack(left, client.lock("a" + left, BRIEF).acquire()::close);
            assertFree("a" + left);
        }
    }

    @Test
    void theNextWaiterIsServedHoweverFewFramesAreLeftForTheClose() throws Exception {
        for (int left = 0; left < FRAMES; left += STEP) {
            String name = "a" + left;
            Runnable[] close = {client.lock(name, BRIEF).acquire()::close};
            EngineCase.Started<Hold> next =
                    EngineCase.startAndWaitUntilItWaits(() -> client.lock(name).acquire());
            atEndOfStack(left, close[0]);
            close[0] = null; // so that a hold that could not be closed is found
            EngineCase.soon(() -> next.isOver() || collected());
            next.result().close();
            assertFree(name);
        }
    }

    @Test
    void aReaderIsReleasedHoweverFewFramesAreLeftForItsClose() throws Exception {
        for (int left = 0; left < FRAMES; left += STEP) {
            atEndOfStack(left, client.readWriteLock("a" + left, BRIEF).read().acquire()::close);
            assertFree("a" + left);
        }
    }

    @Test
    void aThreadThatUnlocksAtTheEndOfItsStackLeavesTheLock() throws Exception {
        for (int left = 0; left < FRAMES; left += STEP) {
            Lock lock = client.lock("a" + left, BRIEF).asLock();
            atEndOfStack(left, lock::lock, lock::unlock);
            assertFree("a" + left);
        }
    }

    @Test
    void aTryWithFewFramesLeftLeavesALockThatOthersGet() throws Exception {
        for (int left = 0; left < FRAMES; left += STEP) {
            DistributedLock lock = client.lock("a" + left, BRIEF);
            atEndOfStack(left, () -> lock.tryAcquire().ifPresent(Hold::close));
            assertFree("a" + left);
        }
    }

    /** A term that ended half-way would be kept and renewed, and nobody would lead. */
    @Test
    void aTermThatIsResignedWithFewFramesLeftIsReleasedByTheCloseOfItsCandidacyAtTheLatest() throws Exception {
        for (int i = 0; i < 20; i++) {
            Candidacy before = client.election("before").stand();
            before.awaitTerm().resign();
            before.close();
        }
        for (int left = 0; left < FRAMES; left += STEP) {
            Candidacy candidacy = client.election("a" + left, BRIEF).stand();
            atEndOfStack(left, candidacy.awaitTerm()::resign);
            candidacy.close();
            assertFree("a" + left);
        }
    }

    @Test
    void aCandidacyThatCouldNotBeClosedAtTheEndOfAStackIsClosedByTheNextCall() throws Exception {
        for (int left = 0; left < FRAMES; left += STEP) {
            Candidacy candidacy = client.election("a" + left, BRIEF).stand();
            Term unused = candidacy.awaitTerm();
            atEndOfStack(left, candidacy::close);
            candidacy.close();
            assertFree("a" + left);
        }
    }

    @Test
    void aRecursionThatEntersItsLockAgainUntilItsStackEndsLeavesTheLock() throws Exception {
        ExecutorService pool = Executors.newSingleThreadExecutor(task -> new Thread(null, task, "deep", STACK));
        try {
            Lock lock = client.lock("recursion").asLock();
            assertThat(pool.submit(() -> depth(lock)).get()).isGreaterThan(1);
            assertFree("recursion"); // though the thread is alive
        } finally {
            pool.shutdownNow();
        }
    }

    @SuppressWarnings("InfiniteRecursion") // that is what it is for
    private static int depth(Lock lock) {
        try {
            lock.lock();
        } catch (StackOverflowError end) {
            return 0;
        }
        try {
            return depth(lock) + 1;
        } finally {
            lock.unlock();
        }
    }

    /** The timer is late, and the caller's thread has ended by then: nothing refers to the hold but the timer. */
    @Test
    void aHoldThatTheTimerIsToCloseIsNotReportedAsALeak() throws Exception {
        LateTime late = new LateTime();
        Ear ear = new Ear();
        try (LockClient mine = LockClient.builder(new MemoryStore(late).open(late))
                .time(late)
                .executor(Runnable::run)
                .listenerExecutor(Runnable::run)
                .listener(ear)
                .build()) {
            DistributedLock before = mine.lock("before", HoldOptions.defaults().reentrant(true));
            for (int i = 0; i < 1_000; i++) {
                before.acquire().close();
            }
            late.schedule(() -> {}, Duration.ZERO).cancel(); // linked by now, as the rest
            for (int left = 0; left < FRAMES; left += STEP) {
                closeAtEndOfStack(
                        mine.lock("entered " + left, HoldOptions.defaults().reentrant(true)), left);
            }
            Garbage.collect();
            late.time.advance(Duration.ofSeconds(11)); // a renewal looks for leaks
            List<String> leaked = names(ear.all(LockEvent.Leaked.class));
            int released = ear.all(LockEvent.Released.class).size();

            late.runDue();

            List<String> closed = names(ear.all(LockEvent.Released.class));
            assertThat(closed).as("closed by the timer").hasSizeGreaterThan(released);
            assertThat(leaked).doesNotContainAnyElementsOf(closed);
        }
    }

    private static void closeAtEndOfStack(DistributedLock lock, int left) throws InterruptedException {
        AtomicReference<Hold> hold = new AtomicReference<>();
        atEndOfStack(
                left,
                () -> hold.set(lock.tryAcquire().orElseThrow()),
                () -> hold.get().close());
    }

    private static List<String> names(List<? extends LockEvent> events) {
        return events.stream().map(LockEvent::name).toList();
    }

    /** A clock whose tasks that are due at once wait for the test. */
    private static final class LateTime implements TimeSource {
        final ManualTime time = new ManualTime();
        private final Queue<Runnable> due = new ConcurrentLinkedQueue<>();

        void runDue() {
            for (Runnable task = due.poll(); task != null; task = due.poll()) {
                task.run();
            }
        }

        @Override
        public long nanoTime() {
            return time.nanoTime();
        }

        @Override
        public long wallMillis() {
            return time.wallMillis();
        }

        @Override
        public Scheduled schedule(Runnable task, Duration delay) {
            if (!delay.isZero()) {
                return time.schedule(task, delay);
            }
            due.add(task);
            return () -> due.remove(task);
        }
    }

    private void assertFree(String name) {
        EngineCase.soon(
                () -> rival.lock(name).tryAcquire().map(EngineCase::closed).isPresent() || collected());
        EngineCase.soon(
                () -> client.lock(name).tryAcquire().map(EngineCase::closed).isPresent());
    }

    /** Has a hold found that was dropped; false, since that alone frees nothing. */
    private static boolean collected() throws InterruptedException {
        Garbage.collect();
        return false;
    }

    private static void atEndOfStack(int left, Runnable what) throws InterruptedException {
        atEndOfStack(left, () -> {}, what);
    }

    /** Runs something on a thread of its own, at first with all its stack, and then where so many frames are left. */
    private static void atEndOfStack(int left, Runnable before, Runnable what) throws InterruptedException {
        Thread thread = new Thread(
                null,
                () -> {
                    before.run();
                    down(left, what);
                },
                "deep",
                STACK);
        thread.start();
        thread.join();
    }

    /** Goes down to the end of the stack, and runs it on the way back. */
    @SuppressWarnings("InfiniteRecursion")
    private static int down(int left, Runnable what) {
        int below;
        try {
            below = down(left, what) + 1;
        } catch (StackOverflowError end) {
            below = 0;
        }
        if (below == left) {
            try {
                what.run();
            } catch (StackOverflowError end) {
                // what is left of it is seen afterwards
            }
        }
        return below;
    }
}
