package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;

/** Who waits longer is served first, and nobody jumps the queue. */
class JavaLockOrderTest extends JavaLockCase {
    private static final HoldOptions STRICT = HoldOptions.defaults().strictFifo(true);
    private final List<String> served = new CopyOnWriteArrayList<>();

    @Test
    void theThreadsOfAClientAreServedInTheOrderTheyCame() throws Exception {
        assertServedInOrder(lock);
    }

    @Test
    void soTheyAreWhereEveryChangeGoesThroughTheStore() throws Exception {
        assertServedInOrder(client.lock("a", STRICT).asLock());
    }

    private void assertServedInOrder(Lock contended) throws Exception {
        contended.lock();
        List<Started<Void>> waiters = new ArrayList<>();
        List<String> came = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            String name = "waiter " + i;
            came.add(name);
            waiters.add(startAndWaitUntilItWaits(i % 2 == 0 ? serve(name, contended) : serveTimed(name, contended)));
        }
        contended.unlock();
        for (Started<Void> waiter : waiters) {
            waiter.result();
        }
        assertThat(served).isEqualTo(came);
    }

    @Test
    void aClientThatHadTheLockGoesBehindTheClientsThatWait() throws Exception {
        Lock ours = client.lock("a", STRICT).asLock();
        Lock theirs = rival.lock("a", STRICT).asLock();
        ours.lock();
        List<Started<Void>> waiters = new ArrayList<>();
        waiters.add(startAndWaitUntilItWaits(serve("ours", ours)));
        waiters.add(startAndWaitUntilItWaits(serve("theirs", theirs)));
        waiters.add(startAndWaitUntilItWaits(serve("ours again", ours)));
        assertThat(client.lock("a").status().waiting()).isEqualTo(1);
        ours.unlock();
        for (Started<Void> waiter : waiters) {
            waiter.result();
        }
        assertThat(served).containsExactly("theirs", "ours", "ours again");
    }

    @Test
    void aTryWithoutTimeDoesNotOvertakeThoseWhoWait() throws Exception {
        assertNoneOvertakes(contended -> contended.tryLock(0, TimeUnit.SECONDS));
    }

    @Test
    void neitherDoesAPlainTry() throws Exception {
        assertNoneOvertakes(Lock::tryLock);
    }

    private interface Try {
        boolean on(Lock contended) throws InterruptedException;
    }

    /** The lock is between two holders: released by one, and the store has not yet granted it to the next. */
    private void assertNoneOvertakes(Try way) throws Exception {
        line.caps = c -> HostileStore.with(c, false, false, false); // every change is a release, then a new claim
        try (LockClient slow = LockClient.builder(line).time(time).build()) {
            Lock contended = slow.lock("a", STRICT).asLock();
            contended.lock();
            Started<Void> waiter = startAndWaitUntilItWaits(serve("waiter", contended));
            HostileStore.HoldReply release = new HostileStore.HoldReply();
            line.releases = release;
            contended.unlock();
            assertThat(elsewhere(() -> way.on(contended))).isFalse();
            line.releases = HostileStore.PASS;
            release.open.complete(null);
            waiter.result();
            assertThat(served).containsExactly("waiter");
        }
    }

    @Test
    void aTimedTryGoesBehindThoseWhoWait() throws Exception {
        lock.lock();
        Started<Void> first = startAndWaitUntilItWaits(serve("first", lock));
        Started<Void> timed = startAndWaitUntilItWaits(serveTimed("timed", lock));
        lock.unlock();
        first.result();
        timed.result();
        assertThat(served).containsExactly("first", "timed");
    }

    private Callable<Void> serve(String name, Lock contended) {
        return () -> {
            contended.lock();
            served.add(name);
            contended.unlock();
            return null;
        };
    }

    private Callable<Void> serveTimed(String name, Lock contended) {
        return () -> {
            assertThat(contended.tryLock(1, TimeUnit.DAYS)).isTrue();
            served.add(name);
            contended.unlock();
            return null;
        };
    }
}
