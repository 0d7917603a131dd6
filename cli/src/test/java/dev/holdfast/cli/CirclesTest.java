package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import dev.holdfast.Holder;
import dev.holdfast.LockMode;
import dev.holdfast.LockStatus;
import dev.holdfast.LockWaiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Circles of waiting, small ones and among very many. */
class CirclesTest {
    private static final int MANY = 50_000;

    private final Map<String, LockStatus> locks = new HashMap<>();
    private final Map<String, List<LockWaiter>> queues = new HashMap<>();

    private void holds(String thread, String lock) {
        LockStatus.Held held = new LockStatus.Held(
                LockMode.EXCLUSIVE, 1024, who(thread), Duration.ofSeconds(1), Duration.ofSeconds(9));
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
        return Circles.in(new Snapshot(locks, queues, true, 0, Duration.ZERO));
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
    void eachCircleIsNamedOnceFromItsFirstLockOn() {
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

    @Test
    void whoHoldsSeveralLocksAndWaitsForOneOfThemIsInACircleOfOne() {
        holds("p", "a");
        holds("p", "b");
        waits("p", "a");

        assertThat(circles()).containsExactly(List.of("a"));
    }

    @Test
    void aCircleOfVeryManyIsFoundInTime() {
        for (int i = 0; i < MANY; i++) {
            holds("thread" + i, "lock" + i);
            waits("thread" + i, "lock" + (i + 1) % MANY);
        }

        List<List<String>> circles = assertTimeout(Duration.ofSeconds(30), this::circles);
        assertThat(circles).singleElement().asList().hasSize(MANY).startsWith("lock0", "lock1");
    }
}
