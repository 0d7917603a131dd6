package dev.holdfast.ladder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.AfterEach;

/** What tests of rungs on several stores do in the same way. */
public abstract class LadderCase {
    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    /** Closes it after the test; what was opened last first. */
    protected final <T extends AutoCloseable> T keep(T opened) {
        open.push(opened);
        return opened;
    }

    /** A process that is killed while it holds a lock. */
    protected static void killedInside(Class<? extends Rung> rung, String place, String lock) {
        try (VisitorProcess first = VisitorProcess.start(rung, place, lock)) {
            first.enters().awaitInside().kill();
        }
    }

    /** A holder of Holdfast whose lease has ended is told so at its release, and the next one's lock stays. */
    protected final void holdfastReleasesItsOwnAlone(String url, String lock, Duration lease) throws Exception {
        HoldOptions options = HoldOptions.defaults().lease(lease).autoRenew(false);
        LockClient one = keep(LockClient.connect(url));
        LockClient two = keep(LockClient.connect(url));
        LockClient three = keep(LockClient.connect(url));
        Hold late = one.lock(lock, options).acquire();
        Hold next = two.lock(lock, options).acquire();

        assertThatThrownBy(late::close).isInstanceOf(HoldLostException.class);

        assertThat(three.lock(lock, options).tryAcquire()).isEmpty();
        next.close();
    }
}
