package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** What nobody has, wants or believes in any more goes back to the store, and is kept by no client. */
class GivenBackTest extends EngineCase {
    private static final HoldOptions FIXED = HoldOptions.defaults().autoRenew(false);

    @Test
    void aLeaseThatAnExtensionWithoutAnAnswerMovedGoesBackWithTheLostHold() throws Exception {
        Hold hold = client.lock("a", FIXED).acquire();
        line.renews = new HostileStore.ReplyLost();
        assertThatThrownBy(() -> hold.extend(Duration.ofDays(7))).isInstanceOf(StoreUnavailableException.class);
        line.renews = HostileStore.PASS;
        time.advance(s(31));
        assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
        time.advance(s(31));
        assertThat(rival.lock("a").tryAcquire())
                .as("lost and closed a lease ago; releases sent: " + line.released.size())
                .isPresent();
    }

    @Test
    void aGrantThatRanOutWhileItWasRenewedForTheNextHolderGoesBack() throws Exception {
        HoldOptions fixed = FIXED.handOver(64, Duration.ofMinutes(1));
        Hold hold = client.lock("a", fixed.lease(s(1))).acquire();
        CompletableFuture<Hold> next =
                client.lock("a", fixed.lease(Duration.ofDays(7))).acquireAsync();
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        line.renews = slow;
        hold.close();
        time.advance(s(1.2));
        slow.open.complete(null);
        advance(10, s(10));
        assertThat(next)
                .as("waits for its own client's forgotten grant; releases sent: " + line.released.size())
                .isDone();
    }

    @Test
    void aTryThatIsGrantedWhileItsClientClosesGivesNoValidHold() throws Exception {
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        line.claims = slow;
        Started<Optional<Hold>> trying = start(() -> client.lock("a").tryAcquire());
        soon(() -> slow.held.get() > 0);
        Thread closer = startClosing(client);
        slow.open.complete(null);
        closer.join();
        assertNoValidHold(trying);
    }

    @Test
    void aTryBehindAReleaseOfItsClientIsNotGrantedOnceTheClientIsClosed() throws Exception {
        line.caps = c -> HostileStore.with(c, false, false, true);
        LockClient unordered = clientOn(line, time);
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        Hold hold = unordered.lock("a").acquire();
        line.releases = slow;
        hold.close();
        Started<Optional<Hold>> trying =
                startAndWaitUntilItWaits(() -> unordered.lock("a").tryAcquire());
        Thread closer = startClosing(unordered);
        line.releases = HostileStore.PASS;
        slow.open.complete(null);
        closer.join();
        assertNoValidHold(trying);
    }

    /** Returns when the client has taken leave of everybody and waits for its releases. */
    private static Thread startClosing(LockClient client) {
        Thread closer = new Thread(client::close);
        closer.start();
        soon(() -> closer.getState() == Thread.State.TIMED_WAITING);
        return closer;
    }

    private static void assertNoValidHold(Started<Optional<Hold>> trying) throws InterruptedException {
        try {
            assertThat(trying.result().filter(Hold::isValid)).isEmpty();
        } catch (ExecutionException e) {
            assertThat(e).hasCauseInstanceOf(ClientClosedException.class);
        }
    }

    @Test
    void aHoldThatIsLostBeforeACancelledFutureGivesItBackThrowsNothingAtTheExecutor() {
        Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
        LockClient busy = LockClient.builder(memory.open(time))
                .time(time)
                .executor(tasks::add)
                .build();
        CompletableFuture<Hold> future = busy.lock("a").acquireAsync();
        assertThat(tasks).as("granted, and not told yet").hasSize(1);
        future.cancel(false);
        Breaking.shown(rival, "a", true);
        time.advance(s(11));
        assertThatCode(tasks.remove()::run).doesNotThrowAnyException();
        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
        busy.close();
    }

    @Test
    void aSessionsGrantGoesBackAfterItsMaximumHold() throws Exception {
        line.caps = c -> HostileStore.with(c, true, true, true);
        line.grantMap = grant -> grant.withLease(s(10));
        Hold hold = clientOn(line, time)
                .lock("a", HoldOptions.defaults().maxHold(s(20)))
                .acquire();
        hold.onLost(losses::add);
        advance(60, s(1));
        soon(() -> losses.size() == 1);
        assertThat(hold.isValid()).isFalse();
        assertThat(line.released).as("releases sent").isNotEmpty();
    }

    @Test
    void theReleaseOfASessionsGrantIsSentUntilTheStoreAnswers() throws Exception {
        line.caps = c -> HostileStore.with(c, true, true, true);
        Hold hold = clientOn(line, time).lock("a").acquire();
        line.releases = new HostileStore.RequestLost();
        hold.close();
        time.advance(s(15));
        int sent = line.released.size();
        line.releases = HostileStore.PASS;
        time.advance(s(300));
        assertThat(line.released.size()).as("sent while down: " + sent).isGreaterThan(sent);
    }

    /** Its session keeps the lock for as long as the client lives. */
    @Test
    void theReleaseOfASessionsGrantIsRepeatedUntilTheStoreAcceptsIt() throws Exception {
        line.caps = c -> HostileStore.with(c, true, true, true);
        Hold hold = clientOn(line, time).lock("a").acquire();
        line.releases = new HostileStore.Gate() {
            @Override
            public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request) {
                return CompletableFuture.failedFuture(new StoreRefusedException("missing privilege"));
            }
        };
        hold.close();
        advance(10, s(30));
        int sent = line.released.size();
        line.releases = HostileStore.PASS;
        advance(10, s(30));
        assertThat(line.released).as("releases sent").hasSize(sent + 1);
    }

    @Test
    void aWaiterThatGivesUpDoesNotCallOffTheTryOfAnother() throws Exception {
        HostileStore.HoldRequest gate = new HostileStore.HoldRequest();
        line.claims = gate;
        Started<Optional<Hold>> trying = start(() -> client.lock("a").tryAcquire());
        soon(() -> gate.held.get() > 0);
        AtomicInteger cancels = new AtomicInteger();
        line.onCancel = cancels::incrementAndGet;
        CompletableFuture<Hold> waiter = client.lock("a").acquireAsync();
        waiter.cancel(true);
        gate.open.complete(null);
        assertThat(trying.result()).isPresent();
        assertThat(cancels).as("cancels of the try's claim").hasValue(0);
    }

    @Test
    void nothingIsKeptOfLocksLostByThreadsThatThenEnded() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch locked = new CountDownLatch(50);
        List<Started<Void>> owners = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            String name = "n" + i;
            owners.add(start(() -> {
                client.lock(name).asLock().lock();
                locked.countDown();
                end.await();
                return null;
            }));
        }
        locked.await();
        for (int i = 0; i < 50; i++) {
            Breaking.shown(rival, "n" + i, true);
        }
        time.advance(s(11));
        end.countDown();
        for (Started<Void> owner : owners) {
            owner.result();
            owner.thread().join();
        }
        advance(60, s(1));
        assertThat(localLocks()).isEmpty();
    }

    /** What the client keeps of locks, which nobody else can see. */
    private Map<?, ?> localLocks() throws ReflectiveOperationException {
        return Entries.locks(client);
    }
}
