package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Waits that no interrupt ends: the thread sleeps on all the same, and finds its flag afterwards. */
class InterruptedWaitTest extends EngineCase {

    @Test
    void extendSleepsWhileAnotherRenewalIsUnderWayThoughItIsInterrupted() throws Exception {
        Hold hold = client.lock("a", HoldOptions.defaults().autoRenew(false)).acquire();
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        line.renews = slow;
        Started<Void> first = start(() -> {
            hold.extend(s(60));
            return null;
        });
        soon(() -> slow.held.get() == 1);
        Started<Boolean> second = start(() -> {
            hold.extend(s(60));
            return Thread.currentThread().isInterrupted();
        });
        soon(second::isWaiting);
        second.thread().interrupt();
        assertSleeps(second);
        slow.open.complete(null);
        first.result();
        assertThat(second.result()).as("the flag is kept").isTrue();
        hold.close();
    }

    @Test
    void closingTheClientSleepsWhileAReleaseIsUnderWayThoughItIsInterrupted() throws Exception {
        Hold hold = client.lock("a").acquire();
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        line.releases = slow;
        CompletableFuture.runAsync(hold::close).join();
        Started<Boolean> closer = start(() -> {
            client.close();
            return Thread.currentThread().isInterrupted();
        });
        soon(closer::isWaiting);
        closer.thread().interrupt();
        assertSleeps(closer);
        slow.open.complete(null);
        assertThat(closer.result()).as("the flag is kept").isTrue();
    }

    /** Otherwise the waits of a store that closes would end at once, and the rest of it would stay open. */
    @Test
    void theStoreOfAClientThatIsClosedOnAnInterruptedThreadSeesNoInterrupt() throws Exception {
        AtomicReference<Boolean> seen = new AtomicReference<>();
        LockClient mine = clientOn(
                new ForwardedStore(memory.open(time)) {
                    @Override
                    public void close() {
                        seen.set(Thread.currentThread().isInterrupted());
                        throw new IllegalStateException("broken, too");
                    }
                },
                time);
        Hold hold = mine.lock("a").acquire();
        Started<Boolean> closer = start(() -> {
            Thread.currentThread().interrupt();
            assertThatThrownBy(mine::close).hasMessage("broken, too");
            return Thread.currentThread().isInterrupted();
        });
        assertThat(closer.result()).as("the flag is kept").isTrue();
        assertThat(seen).hasValue(false);
        assertThat(hold.isValid()).isFalse();
        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    /** A thread whose flag is up cannot sleep: it would spin until the wait is over. */
    private static void assertSleeps(Started<?> sleeper) {
        soon(() -> sleeper.isWaiting() && !sleeper.thread().isInterrupted());
    }
}
