package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The snippets about holders that hear of waiters, and locks that are retained. */
@Timeout(120)
class RetainedPageTest {
    private final MemoryStore memory = new MemoryStore();
    private final LockClient client = LockClient.builder(memory.open()).build();
    private final LockClient rival = LockClient.builder(memory.open()).build();

    @AfterEach
    void close() {
        client.close();
        rival.close();
    }

    @Test
    void finishEarly() throws Exception {
        DistributedLock lock = client.lock("backlog");
        Backlog backlog = new Backlog(() -> rival.lock("backlog").acquireAsync());
        // @formatter:off
        // snippet finishEarly
        AtomicBoolean wanted = new AtomicBoolean();
        try (Hold hold = lock.acquire()) {
            hold.onWanted(() -> wanted.set(true));      // another client waits, or another caller of this one
            while (!wanted.get() && backlog.hasMore()) {
                backlog.processNext();
            }
        }
        // end
        // @formatter:on
        await().until(() -> backlog.waiting != null && backlog.waiting.isDone());
        backlog.waiting.join().close();
    }

    @Test
    void retain() throws Exception {
        // @formatter:off
        // snippet retain
        HoldOptions retained = HoldOptions.defaults().retain(Duration.ofSeconds(10));
        DistributedLock shard = client.lock("shard:7", retained);
        try (Hold hold = shard.acquire()) {             // asks the store
            work(hold.token());
        }
        try (Hold hold = shard.acquire()) {             // asks nobody, unless another client has come in between
            work(hold.token());
        }
        // end
        // @formatter:on
        assertThat(client.statistics().claims()).isEqualTo(1);
        try (Hold theirs = rival.lock("shard:7").acquire()) {
            assertThat(theirs.isValid()).isTrue();
        }
    }

    private static void work(long token) {
        assertThat(token).isPositive();
    }

    /** More work than anybody has time for, and a rival that comes while it is done. */
    private static final class Backlog {
        private final Supplier<CompletableFuture<Hold>> rival;
        private CompletableFuture<Hold> waiting;

        Backlog(Supplier<CompletableFuture<Hold>> rival) {
            this.rival = rival;
        }

        boolean hasMore() {
            return true;
        }

        void processNext() {
            if (waiting == null) {
                waiting = rival.get();
            }
            Thread.onSpinWait();
        }
    }
}
