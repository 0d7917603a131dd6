package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** {@code awaitRelease}: once closed, the lock is free for others, whatever the store was asked on the way. */
class AwaitReleaseTest extends EngineCase {
    private static final HoldOptions AWAITED =
            HoldOptions.defaults().strictFifo(true).awaitRelease(true);

    @Test
    void closeWaitsForTheReleaseThatFollowsARefusedFreshNumber() throws Exception {
        Hold hold = client.lock("a", AWAITED).acquire();
        CompletableFuture<Hold> next = client.lock("a", AWAITED).acquireAsync();
        CompletableFuture<Hold> theirs = rival.lock("a").acquireAsync();
        HostileStore.HoldReply number = new HostileStore.HoldReply();
        HostileStore.HoldReply release = new HostileStore.HoldReply();
        line.extends_ = number;
        line.releases = release;
        Started<Void> closer = startClosing(hold);
        number.open.complete(null); // the store says no: another client waits
        soon(() -> release.held.get() == 1);
        soon(() -> closer.isWaiting() || closer.isOver());
        assertThat(closer.isOver()).as("closed before the store has answered").isFalse();
        release.open.complete(null);
        closer.result();
        assertThat(theirs).isDone();
        line.passAll();
        theirs.join().close();
        next.join().close();
    }

    @Test
    void closeWaitsForNoReleaseWhereTheGrantGoesOnToTheNextWaiter() throws Exception {
        Hold hold = client.lock("a", AWAITED).acquire();
        CompletableFuture<Hold> next = client.lock("a", AWAITED).acquireAsync();
        HostileStore.HoldReply number = new HostileStore.HoldReply();
        line.extends_ = number;
        Started<Void> closer = startClosing(hold);
        number.open.complete(null);
        closer.result();
        assertThat(next.join().isValid()).isTrue();
        assertThat(line.released).isEmpty();
        next.join().close();
    }

    @Test
    void closeEndsWhereTheGrantIsLostWhileItsFreshNumberIsAskedFor() throws Exception {
        Hold hold = client.lock("a", AWAITED.autoRenew(false)).acquire();
        CompletableFuture<Hold> next =
                client.lock("a", AWAITED.autoRenew(false)).acquireAsync();
        line.extends_ = new HostileStore.HoldReply();
        Started<Void> closer = startClosing(hold);
        time.advance(Duration.ofSeconds(31));
        closer.result();
        assertThat(next.join().isValid()).as("on a grant of its own").isTrue();
        next.join().close();
    }

    @Test
    void closeEndsWhereTheClientIsClosedWhileAFreshNumberIsAskedFor() throws Exception {
        Hold hold = client.lock("a", AWAITED).acquire();
        CompletableFuture<Hold> next = client.lock("a", AWAITED).acquireAsync();
        line.extends_ = new HostileStore.HoldReply();
        Started<Void> closer = startClosing(hold);
        client.close();
        closer.result();
        assertThat(next).isCompletedExceptionally();
    }

    private Started<Void> startClosing(Hold hold) {
        Started<Void> closer = start(() -> {
            hold.close();
            return null;
        });
        soon(closer::isWaiting);
        return closer;
    }
}
