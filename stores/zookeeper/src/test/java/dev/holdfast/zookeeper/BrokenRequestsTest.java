package dev.holdfast.zookeeper;

import static dev.holdfast.zookeeper.RawStore.answer;
import static dev.holdfast.zookeeper.RawStore.claim;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.ZooKeeperServer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.AsyncCallback.Children2Callback;
import org.apache.zookeeper.AsyncCallback.MultiCallback;
import org.apache.zookeeper.AsyncCallback.VoidCallback;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Errors, such as of memory, while a request is sent or its answer is read: each request is answered all the same. */
@Timeout(120)
class BrokenRequestsTest {
    private static final Duration TIME_LIMIT = Duration.ofSeconds(20);
    private static final int SESSION = 60_000;

    /** Nodes of locks stay, so that a claim takes one write. */
    @AutoClose
    private static final ZooKeeperServer server = ZooKeeperServers.withoutSweeper();

    private final BrokenTime time = new BrokenTime();
    /** The next success of a write of several steps is read half. */
    private final AtomicBoolean breakWrite = new AtomicBoolean();
    /** The next list of children is read half. */
    private final AtomicBoolean breakList = new AtomicBoolean();
    /** The next write of several steps is not sent. */
    private final AtomicBoolean refuseWrite = new AtomicBoolean();
    /** The next deletion is not sent. */
    private final AtomicBoolean refuseDeletion = new AtomicBoolean();

    private CuratorFramework curator;
    private Store store;
    private LockClient rival;

    @BeforeEach
    void open() throws InterruptedException {
        curator = CuratorFrameworkFactory.builder()
                .connectString(server.connectString())
                .sessionTimeoutMs(SESSION)
                .retryPolicy(new RetryOneTime(100))
                .zookeeperFactory((servers, session, watcher, readOnly) -> new Broken(servers, session, watcher))
                .build();
        curator.start();
        curator.blockUntilConnected();
        store = ZooKeeperStores.on(curator, ZooKeeperServers.options()).open(new StoreContext(time));
        rival = LockClient.connect(ZooKeeperServers.url(server));
    }

    @AfterEach
    void close() {
        rival.close();
        store.close();
        curator.close();
        time.close();
    }

    @Test
    void anErrorWhereTheAnswerToAWriteIsReadLeavesNoClaimWithoutAnAnswer() throws Exception {
        rival.lock("read").acquire().close();
        time.breakEventThread.set(true);

        Asked claim = Asked.of(store, claim("read"));
        Asked other = Asked.of(store, claim("other"));

        assertThat(answer(other.answer())).isPresent();
        Grant grant = answer(claim.answer()).orElseThrow();
        assertThat(time.breakEventThread).as("to be thrown").isFalse();
        assertIsReleased(grant);
    }

    @Test
    void anAnswerToAWriteThatIsReadHalfLeavesNoClaimWithoutAnAnswer() throws Exception {
        breakWrite.set(true); // which makes the node of the lock as well

        Asked claim = Asked.of(store, claim("half"));
        Asked other = Asked.of(store, claim("other"));

        assertThat(answer(other.answer())).isPresent();
        Grant grant = answer(claim.answer()).orElseThrow();
        assertThat(breakWrite).as("to be broken").isFalse();
        assertIsReleased(grant);
    }

    @Test
    void aListThatIsReadHalfGrantsNoLockBesideItsHolder() throws Exception {
        Hold held = rival.lock("list").acquire();
        try (LockClient between = LockClient.connect(ZooKeeperServers.url(server))) {
            CompletableFuture<Hold> leaving = between.lock("list").acquireAsync();
            awaitWaiting("list", 1);
            Asked claim = Asked.of(store, claim("list"));
            assertThat(answer(store.status("list")).waiting()).as("behind both").isEqualTo(2);
            breakList.set(true);

            leaving.cancel(true);

            await().atMost(TIME_LIMIT).untilFalse(breakList);
            assertThat(answer(store.status("list")).isHeld())
                    .as("an answer behind that list")
                    .isTrue();
            assertThat(claim.answer()).isNotDone();
            held.close();
            assertIsReleased(answer(claim.answer()).orElseThrow());
        }
    }

    @Test
    void aListThatIsReadHalfLosesNoHold() throws Exception {
        Grant grant = answer(Asked.of(store, claim("renewed")).answer()).orElseThrow();
        breakList.set(true);

        assertThatThrownBy(() -> answer(store.renew(List.of(grant))))
                .hasCauseInstanceOf(StoreUnavailableException.class);

        assertThat(breakList).as("to be broken").isFalse();
        assertThat(answer(store.renew(List.of(grant))).values())
                .extracting(Renewal::verdict)
                .containsExactly(Renewal.Verdict.HELD);
        assertIsReleased(grant);
    }

    @Test
    void aReleaseWhoseWriteWithTheNextClaimCannotBeSentIsSentAlone() throws Exception {
        Grant grant = answer(Asked.of(store, claim("both")).answer()).orElseThrow();
        CompletableFuture<Boolean> released = new CompletableFuture<>();
        CompletableFuture<Optional<Grant>> claimed = new CompletableFuture<>();
        refuseWrite.set(true);

        store.beforeSending("both", () -> {
            follow(store.release(grant), released);
            follow(Asked.of(store, claim("both")).answer(), claimed);
        });

        assertThat(answer(released)).isTrue();
        assertThatThrownBy(() -> answer(claimed)).hasCauseInstanceOf(StackOverflowError.class);
        assertIsFree("both");
    }

    @Test
    void aReleaseThatCannotBeSentIsAnsweredAndCanBeRepeated() throws Exception {
        Grant grant = answer(Asked.of(store, claim("alone")).answer()).orElseThrow();
        CompletableFuture<Boolean> released = new CompletableFuture<>();
        refuseDeletion.set(true);

        store.beforeSending("alone", () -> follow(store.release(grant), released));

        assertThatThrownBy(() -> answer(released)).hasCauseInstanceOf(StackOverflowError.class);
        assertIsReleased(grant);
    }

    private static <T> void follow(CompletionStage<T> from, CompletableFuture<T> to) {
        from.whenComplete((value, failure) -> {
            if (failure == null) {
                to.complete(value);
            } else {
                to.completeExceptionally(failure);
            }
        });
    }

    private void awaitWaiting(String name, int count) {
        await().atMost(TIME_LIMIT).until(() -> rival.lock(name).status().waiting() == count);
    }

    private void assertIsReleased(Grant grant) throws Exception {
        assertThat(answer(store.release(grant))).isTrue();
        assertIsFree(grant.name());
    }

    private void assertIsFree(String name) throws InterruptedException {
        Optional<Hold> next = rival.lock(name).tryAcquire();
        assertThat(next).isPresent();
        next.get().close();
    }

    /** Its clock can be made to fail once, on the thread on which answers are read. */
    private static final class BrokenTime implements TimeSource, AutoCloseable {
        private final KitTime time = new KitTime();
        private final AtomicBoolean breakEventThread = new AtomicBoolean();

        @Override
        public long nanoTime() {
            if (Thread.currentThread().getName().endsWith("-EventThread")
                    && breakEventThread.compareAndSet(true, false)) {
                throw new StackOverflowError("of a test");
            }
            return time.nanoTime();
        }

        @Override
        public long wallMillis() {
            return time.wallMillis();
        }

        @Override
        public Scheduled schedule(Runnable task, Duration delay) {
            return time.schedule(task, delay);
        }

        @Override
        public void close() {
            time.close();
        }
    }

    /** Reports answers as the client library does where memory ends in the middle of one. */
    private final class Broken extends ZooKeeper {
        Broken(String servers, int session, Watcher watcher) throws IOException {
            super(servers, session, watcher);
        }

        @Override
        public void multi(Iterable<Op> ops, MultiCallback callback, Object context) {
            if (((List<Op>) ops).stream().allMatch(op -> op.getType() == ZooDefs.OpCode.check)) {
                super.multi(ops, callback, context);
                return;
            }
            refuse(refuseWrite);
            super.multi(
                    ops,
                    (rc, path, same, results) -> callback.processResult(
                            rc, path, same, rc == 0 && breakWrite.compareAndSet(true, false) ? List.of() : results),
                    context);
        }

        @Override
        public void getChildren(String path, Watcher watcher, Children2Callback callback, Object context) {
            super.getChildren(
                    path,
                    watcher,
                    (rc, same, with, children, stat) -> {
                        boolean half = breakList.compareAndSet(true, false);
                        callback.processResult(rc, same, with, half ? List.of() : children, half ? null : stat);
                    },
                    context);
        }

        @Override
        public void delete(String path, int version, VoidCallback callback, Object context) {
            refuse(refuseDeletion);
            super.delete(path, version, callback, context);
        }

        private void refuse(AtomicBoolean once) {
            if (once.compareAndSet(true, false)) {
                throw new StackOverflowError("of a test");
            }
        }
    }
}
