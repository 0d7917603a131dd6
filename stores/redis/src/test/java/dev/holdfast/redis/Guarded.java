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

/** A guarded resource, and its users in this JVM: it detects two users at once, and a token that falls. */
final class Guarded {
    private final AtomicBoolean occupied = new AtomicBoolean();
    private final AtomicLong lastToken = new AtomicLong();
    private final AtomicInteger uses = new AtomicInteger();
    private final Queue<String> violations = new ConcurrentLinkedQueue<>();

    /** Uses it again and again, until the returned object is closed. */
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
            // Then it was not used: a store in trouble may refuse.
        }
    }

    int uses() {
        return uses.get();
    }

    void check() {
        assertThat(violations).isEmpty();
    }
}
