package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.StoreUnavailableException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** What a lock guards, and users of it in this JVM: two at once, or a token that falls, are found out. */
final class Guarded {
    private final AtomicBoolean occupied = new AtomicBoolean();
    private final AtomicLong lastToken = new AtomicLong();
    private final AtomicInteger uses = new AtomicInteger();
    private final Queue<String> violations = new ConcurrentLinkedQueue<>();

    /** Begins to use it again and again, until the returned is closed. */
    AutoCloseable use(DistributedLock lock) {
        AtomicBoolean goOn = new AtomicBoolean(true);
        Thread user = new Thread(() -> {
            while (goOn.get()) {
                useOnce(lock);
            }
        });
        user.start();
        return () -> {
            goOn.set(false);
            user.join();
        };
    }

    private void useOnce(DistributedLock lock) {
        try (Hold hold = lock.tryAcquire(Duration.ofSeconds(20)).orElse(null)) {
            if (hold == null) {
                return;
            }
            if (!occupied.compareAndSet(false, true)) {
                violations.add("two at once, one with " + hold.token());
                return;
            }
            long before = lastToken.getAndSet(hold.token());
            if (before >= hold.token()) {
                violations.add("token " + hold.token() + " after " + before);
            }
            uses.incrementAndGet();
            occupied.set(false);
        } catch (StoreUnavailableException | HoldLostException | InterruptedException e) {
            // Then it was not used: a store in trouble may say so.
        }
    }

    int uses() {
        return uses.get();
    }

    void check() {
        assertThat(violations).isEmpty();
    }
}
