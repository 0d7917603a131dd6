package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import dev.holdfast.Holder;
import dev.holdfast.LockMode;
import dev.holdfast.LockStatus;
import dev.holdfast.LockWaiter;
import dev.holdfast.testbed.ChildProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Circles of waiting, among a few locks and among many. */
class CirclesTest {
    private static final int MANY = 50_000;
    private static final long TOKEN = 1024;

    private final Map<String, LockStatus> locks = new HashMap<>();
    private final Map<String, List<LockWaiter>> queues = new HashMap<>();

    private void holds(String thread, String lock) {
        holds(who(thread), lock);
    }

    private void holds(Holder holder, String lock) {
        holds(holder, lock, LockMode.EXCLUSIVE);
    }

    private void holds(Holder holder, String lock, LockMode mode) {
        LockStatus.Held held = new LockStatus.Held(mode, TOKEN, holder, Duration.ofSeconds(1), Duration.ofSeconds(9));
        locks.put(lock, new LockStatus(lock, Optional.of(held), 0));
    }

    private void waits(String thread, String lock) {
        queues.computeIfAbsent(lock, name -> new ArrayList<>())
                .add(new LockWaiter(lock, who(thread), LockMode.EXCLUSIVE, Duration.ZERO));
    }

    private static Holder who(String thread) {
        return new Holder("another-host", 7, thread, "");
    }

    private List<List<String>> circles() {
        return Circles.in(new Snapshot(locks, queues, Snapshot.Waiters.NAMED, 0, Duration.ZERO));
    }

    @Test
    void aQueueIsNoCircle() {
        holds("p", "a");
        holds("q", "b");
        waits("q", "a");
        waits("r", "b");

        assertThat(circles()).isEmpty();
    }

    @Test
    void eachCircleIsReportedOnceBeginningWithItsFirstLockByName() {
        holds("p", "b");
        waits("p", "a");
        holds("q", "a");
        waits("q", "b");
        holds("r", "c");
        waits("r", "d");
        holds("s", "d");
        waits("s", "c");
        waits("s", "a");

        assertThat(circles()).containsExactlyInAnyOrder(List.of("a", "b"), List.of("c", "d"));
    }

    /** Such as two servers, each of which leads one of two elections and stands for the other. */
    @Test
    void asynchronousClaimsOfAProcessAreNotOneParty() {
        for (String thread : List.of("async", "")) {
            holds(thread, "a");
            holds(new Holder("third-host", 7, thread, ""), "b");
            waits(thread, "b");
            queues.put(
                    "a",
                    List.of(new LockWaiter(
                            "a", new Holder("third-host", 7, thread, ""), LockMode.EXCLUSIVE, Duration.ZERO)));

            assertThat(circles()).isEmpty();
        }
    }

    @Test
    void aSemaphoreWhoseOtherHoldersMayEndIsNoCircle() {
        holds(who("p"), "permits", LockMode.PERMITS);
        holds("r", "b");
        waits("p", "b");
        waits("r", "permits");

        assertThat(circles()).isEmpty();
    }

    @Test
    void aThreadThatWaitsForALockThatItHoldsIsACircleOfOne() {
        holds("p", "a");
        holds("p", "b");
        waits("p", "a");

        assertThat(circles()).containsExactly(List.of("a"));
    }

    @Test
    void aHolderOnAnotherMachineIsNotMistakenForALocalProcessWithTheSameId() {
        try (ChildProcess waiter = under("a");
                ChildProcess other = under("b")) {
            queues.put(
                    "b",
                    List.of(new LockWaiter("b", process(ThisHost.name(), waiter), LockMode.EXCLUSIVE, Duration.ZERO)));
            holds(who("p"), "b");
            holds(process("another-host", other), "a");
            assertThat(circles()).isEmpty();

            holds(process(ThisHost.name(), other), "a");
            assertThat(circles()).containsExactly(List.of("b"));
        }
    }

    /** A process with the variables of a command under a lock. */
    private static ChildProcess under(String lock) {
        return ChildProcess.command("sleep", "300")
                .environment("HOLDFAST_NAME", lock)
                .environment("HOLDFAST_TOKEN", Long.toString(TOKEN))
                .start();
    }

    private static Holder process(String host, ChildProcess process) {
        return new Holder(host, process.pid(), "main", "");
    }

    @Test
    void aCircleOfManyLocksIsFoundQuickly() {
        for (int i = 0; i < MANY; i++) {
            holds("thread" + i, "lock" + i);
            waits("thread" + i, "lock" + (i + 1) % MANY);
        }

        List<List<String>> circles = assertTimeout(Duration.ofSeconds(30), this::circles);
        assertThat(circles).singleElement().asList().hasSize(MANY).startsWith("lock0", "lock1");
    }
}
