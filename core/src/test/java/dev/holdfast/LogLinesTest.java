package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.logging.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What is logged: one line each, which names the lock and the store, says what to do, and carries no secret. The line of
 * a thread that waits for itself is in {@link SelfWaitTest}.
 */
@Timeout(120)
class LogLinesTest {
    private static final String SECRET = "hunter2";

    private final LogEar log = new LogEar();
    private final ManualTime time = new ManualTime();
    private final MemoryStore memory = new MemoryStore(time);
    private final HostileStore line = new HostileStore(memory.open(time));
    private final LockClient client =
            LockClient.builder(line).time(time).namespace("shop").build();
    private final DistributedLock lock = client.lock("order:42");

    @AfterEach
    void close() {
        client.close();
        log.close();
    }

    /** As drivers like to put it. */
    private static StoreUnavailableException noRoute() {
        return new StoreUnavailableException("no route to redis://app:" + SECRET + "@db1:6379/0?password=" + SECRET
                + "\n\tat socket; password=" + SECRET);
    }

    private static HostileStore.Gate down() {
        return failing(noRoute());
    }

    private static HostileStore.Gate failing(RuntimeException why) {
        return new HostileStore.Gate() {
            @Override
            public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request) {
                return CompletableFuture.failedFuture(why);
            }
        };
    }

    /** The one line, which is as a line should be and says this. */
    private void assertSays(String... words) {
        await().until(() -> !log.lines.isEmpty());
        assertThat(log.lines)
                .singleElement()
                .asString()
                .hasLineCount(1)
                .contains("'order:42'", "hostile")
                .contains(words)
                .doesNotContain(SECRET);
    }

    @Test
    void aLossOfEveryCauseSaysWhatToDo() {
        for (Loss.Cause cause : Loss.Cause.values()) {
            String said = new Loss("order:42", 7, cause, "sqlite:locks.db").message();
            assertThat(said)
                    .startsWith("lost the hold of 'order:42' (token 7) on sqlite:locks.db; ")
                    .containsPattern("; (check|see|close) |, (check|close) ")
                    .hasLineCount(1);
        }
    }

    @Test
    void aLoss() throws InterruptedException {
        Hold hold = lock.acquire();
        Breaking.shown(client, "order:42", true);
        time.advance(Duration.ofSeconds(11));
        assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);

        assertSays("lost the hold", "token " + hold.token(), "check what was written under this token");
        assertThat(log.loggers).as("a logger of its own").containsExactly("dev.holdfast.loss");
        assertThat(log.levels).containsExactly(Level.WARNING);
    }

    /** It is what was asked for, and no stall. */
    @Test
    void theEndOfALeaseThatIsNotRenewedAsInformation() throws InterruptedException {
        Hold hold =
                client.lock("order:42", HoldOptions.defaults().autoRenew(false)).acquire();
        time.advance(Duration.ofMinutes(1));
        assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);

        assertSays("lost the hold", "its lease ended", "token " + hold.token());
        assertThat(log.levels).containsExactly(Level.INFO);
    }

    @Test
    void aLossFoundAtTheRelease() throws InterruptedException {
        Hold hold = client.lock("order:42", HoldOptions.defaults().awaitRelease(true))
                .acquire();
        Breaking.shown(client, "order:42", true);
        assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);

        assertSays("lost the hold", "check what was written under this token");
    }

    @Test
    void aLeak() throws InterruptedException {
        WeakReference<Hold> leaked = new WeakReference<>(lock.acquire());
        await().until(() -> {
            System.gc();
            time.advance(Duration.ofSeconds(1));
            return leaked.get() == null && !log.lines.isEmpty();
        });
        assertSays(
                "never closed",
                "by thread '" + Thread.currentThread().getName() + "'",
                "close holds in a try statement");
    }

    @Test
    void aFailedRelease() throws InterruptedException {
        Hold hold = lock.acquire();
        line.releases = down();
        hold.close();

        assertSays(
                "could not release",
                "repeats the release until the store confirms it",
                "lease of 30s ",
                "see that the store is up",
                "redis://db1:6379/0");
        line.passAll();
        time.advance(Duration.ofSeconds(1)); // the release is sent again
    }

    @Test
    void aFailedReleaseOfWhichTheReasonCannotBeRead() throws InterruptedException {
        Hold hold = lock.acquire();
        line.releases = failing(new UnreadableException());
        hold.close();

        assertSays("could not release", UnreadableException.class.getName());
        line.passAll();
        time.advance(Duration.ofSeconds(1)); // the release is sent again
    }

    @Test
    void aRenewalWithoutAnAnswerOncePerOutage() throws InterruptedException {
        try (Hold hold = lock.acquire()) {
            line.renews = down();
            time.advance(Duration.ofSeconds(18));
            assertThat(line.renewed).hasSizeGreaterThan(2);
            assertSays("could not renew 1 of 1 hold(s)", "tried again", "see that the store is up");

            line.renews = HostileStore.PASS;
            time.advance(Duration.ofSeconds(10));
            assertThat(hold.isValid()).isTrue();
            line.renews = down();
            time.advance(Duration.ofSeconds(15));
            assertThat(log.lines).as("one for each outage").hasSize(2);
        }
    }

    @Test
    void noneOfARenewalWithoutAnAnswerWhenTheHoldIsClosedMeanwhile() throws InterruptedException {
        CompletableFuture<Void> broken = new CompletableFuture<>();
        Hold hold = lock.acquire();
        line.renews = new HostileStore.Gate() {
            @Override
            public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request) {
                return broken.thenCompose(never -> request.get());
            }
        };
        time.advance(Duration.ofSeconds(11));
        assertThat(line.renewed).hasSize(1);

        hold.close();
        broken.completeExceptionally(noRoute());

        assertThat(log.lines).isEmpty();
    }

    @Test
    void aListenerThatFails() throws InterruptedException {
        failsAtAListener(new IllegalStateException("jdbc:mysql://u:" + SECRET + "@h/d is gone"));
        assertSays("LogLinesTest$", "IllegalStateException", "Acquired", "correct this one", "jdbc:mysql://h/d");
    }

    @Test
    void aListenerWhoseFailureCannotBeRead() throws InterruptedException {
        failsAtAListener(new UnreadableException());
        assertSays("LogLinesTest$", UnreadableException.class.getName(), "Acquired", "correct this one");
    }

    private void failsAtAListener(RuntimeException failure) throws InterruptedException {
        LockListener broken = new LockListener() {
            @Override
            public void onAcquired(LockEvent.Acquired event) {
                throw failure;
            }
        };
        try (LockClient other = LockClient.builder(new HostileStore(memory.open(time)))
                .time(time)
                .listener(broken)
                .build()) {
            other.lock("order:42").acquire().close();
            await().until(() -> !log.lines.isEmpty());
        }
    }

    @Test
    void anActionOfAHoldThatFails() throws InterruptedException {
        Hold hold = lock.acquire();
        hold.onLost(loss -> {
            throw new IllegalStateException("broken");
        });
        Breaking.shown(client, "order:42", true);
        time.advance(Duration.ofSeconds(11));
        assertThat(hold.isValid()).isFalse();

        await().until(() -> log.lines.size() == 2);
        assertThat(log.with("threw"))
                .singleElement()
                .asString()
                .contains("Loss of 'order:42'", "hostile", "correct this one");
    }

    @Test
    void aStoreThatCannotBeReachedWhileSomebodyWaitsOnceUntilItIsThereAgain() throws InterruptedException {
        try (LockClient rival = LockClient.builder(memory.open(time))
                        .time(time)
                        .namespace("shop")
                        .build();
                Hold hold = rival.lock("order:42").acquire()) {
            CompletableFuture<Hold> waiting = lock.acquireAsync();
            var listener = Objects.requireNonNull(line.listener);
            listener.unreachable("shop:order:42", noRoute());
            listener.unreachable("shop:order:42", noRoute());
            assertSays("cannot serve 1 waiting caller(s)", "they keep waiting", "no route to redis://db1:6379/0");

            listener.reachable();
            listener.unreachable("shop:order:42", noRoute());
            assertThat(log.lines).hasSize(2);
            assertThat(hold.isValid()).isTrue();
            waiting.cancel(true);
        }
    }

    @Test
    void aClaimThatCannotBeCalledOff() throws InterruptedException {
        try (LockClient rival = LockClient.builder(memory.open(time))
                        .time(time)
                        .namespace("shop")
                        .build();
                Hold hold = rival.lock("order:42").acquire()) {
            line.onCancel = () -> {
                throw noRoute();
            };
            lock.acquireAsync().cancel(true);

            assertThat(hold.isValid()).isTrue();
            assertThat(log.lines)
                    .singleElement()
                    .asString()
                    .hasLineCount(1)
                    .contains("'shop:order:42'", "hostile", "could not withdraw", "report this")
                    .doesNotContain(SECRET);
        }
    }

    @Test
    @Tag("thorough")
    void aListenerThatCouldNotBeToldBecauseTheClientIsClosed() throws InterruptedException {
        HostileStore.HoldReply late = new HostileStore.HoldReply();
        HostileStore slow = new HostileStore(memory.open(time));
        LockClient other = LockClient.builder(slow)
                .time(time)
                .listener(new LockListener() {})
                .build();
        Hold hold = other.lock("order:42").acquire();
        slow.releases = late;
        Breaking.shown(slow.real, "order:42", true);
        hold.close();
        other.close(); // gives up waiting for the release
        late.open.complete(null);

        assertThat(log.with("could not be reported"))
                .singleElement()
                .asString()
                .hasLineCount(1)
                .contains("Loss of 'order:42'", "hostile", "close holds before their client");
    }
}
