package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A client that asks about a lock after its own close hears of that close, though nobody waits for the release. */
class OwnReadsTest extends EngineCase {
    private final UnreliableStore gathering = new UnreliableStore(line);
    private final LockClient own = clientOn(gathering, time);
    private final HostileStore.HoldRequest late = new HostileStore.HoldRequest();

    @Test
    void statusAndListAfterALockWasClosed() throws Exception {
        assertReadsItsRelease(own.lock("a")::acquire);
    }

    @Test
    void statusAndListAfterAReaderWasClosed() throws Exception {
        assertReadsItsRelease(own.readWriteLock("a").read()::acquire);
    }

    @Test
    void statusAndListAfterAPermitWasReturned() throws Exception {
        assertReadsItsRelease(own.semaphore("a", 2)::acquire);
    }

    private void assertReadsItsRelease(Callable<Hold> acquire) throws Exception {
        gathering.gathers = true; // the release lingers until the store sends, which it does not
        acquire.call().close();
        assertThat(own.lock("a").status().isHeld()).isFalse();
        acquire.call().close();
        assertThat(own.list("*")).isEmpty();
        Hold last = acquire.call();
        last.close();
        assertThat(own.breakGrant("a", last.token(), true)).as("it was held").isFalse();
        own.close();
    }

    @Test
    void aStatusWaitsForTheAnswerToTheRelease() throws Exception {
        line.caps = all -> HostileStore.with(all, false, false, true);
        try (LockClient unordered = clientOn(line, time)) {
            Hold hold = unordered.lock("a").acquire();
            line.releases = late;
            hold.close();
            Started<LockStatus> asking = start(() -> unordered.lock("a").status());
            soon(() -> late.held.get() == 1);
            late.open.complete(null);
            assertThat(asking.result().isHeld()).isFalse();
        }
    }

    @Test
    void aReleaseThatFailedIsNotWaitedForAgain() throws Exception {
        Hold hold = own.lock("a").acquire();
        gathering.releases = UnreliableStore.Line.REQUEST_LOST;
        hold.close();
        assertThat(own.lock("a").status().isHeld())
                .as("the store does not know better")
                .isTrue();
        gathering.releases = UnreliableStore.Line.UP;
        time.advance(s(1));
        own.close();
    }

    @Test
    void theReleaseOfAnotherNameIsNotWaitedFor() throws Exception {
        Hold hold = own.lock("b").acquire();
        line.releases = late;
        hold.close();
        assertThat(own.lock("a").status().isHeld()).isFalse();
        CompletableFuture<Void> answered = late.open;
        answered.complete(null);
        own.close();
    }
}
