package dev.holdfast.zookeeper;

import static dev.holdfast.zookeeper.RawStore.answer;
import static dev.holdfast.zookeeper.RawStore.claim;
import static dev.holdfast.zookeeper.RawStore.granted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A release waits for callers that come back at once, where they do. */
@Timeout(120)
class ReturningCallersTest {
    private static final Duration TIME_LIMIT = Duration.ofSeconds(60);
    private static final Runnable TAKEN_OVER = () -> {};

    @AutoClose
    private static final ZooKeeperServer server = ZooKeeperServers.quick();

    @AutoClose
    private final KitTime time = new KitTime();

    @AutoClose
    private final Store store = new ZooKeeperStoreProvider()
            .open("zk://" + server.connectString() + "?timeout=30s&tick=300ms&session=30s", new StoreContext(time));

    @Test
    void aReleaseLeavesAtOnceWhereNobodyHasComeBackLately() throws Exception {
        assertThat(runsNow(release())).isFalse();

        await().atMost(TIME_LIMIT).until(() -> runsNow(release()));

        List<Boolean> runNow = new ArrayList<>();
        for (int i = 0; i < 32; i++) {
            runNow.add(runsNow(release()));
        }
        assertThat(runNow)
                .filteredOn(now -> !now)
                .as("those that still wait, to find out")
                .hasSize(2);
    }

    @Test
    void aReleaseWaitsAgainOnceCallersComeBack() throws Exception {
        await().atMost(TIME_LIMIT).until(() -> runsNow(release()));

        await().atMost(TIME_LIMIT).until(this::threeWait);
    }

    private boolean threeWait() throws Exception {
        for (int i = 0; i < 3; i++) {
            if (runsNow(TAKEN_OVER)) {
                return false;
            }
        }
        return true;
    }

    @Test
    void theClaimBehindAReleaseThatLeavesAtOnceIsGranted() throws Exception {
        await().atMost(TIME_LIMIT).until(() -> runsNow(release()));

        for (int i = 0; i < 32; i++) {
            Grant old = granted(Asked.of(store, claim("both")));
            CompletableFuture<Boolean> released = new CompletableFuture<>();
            CompletableFuture<Grant> next = new CompletableFuture<>();
            store.beforeSending("both", () -> {
                store.release(old).thenAccept(released::complete);
                Asked.of(store, claim("both")).answer().thenAccept(grant -> next.complete(grant.orElseThrow()));
            });
            assertThat(answer(released)).isTrue();
            assertThat(answer(next).number()).isGreaterThan(old.number());
            answer(store.release(next.join()));
        }
    }

    /** The release of a grant that nobody has come back for. */
    private Runnable release() throws Exception {
        Grant grant = granted(Asked.of(store, claim("released")));
        return () -> store.release(grant);
    }

    private boolean runsNow(Runnable task) {
        CompletableFuture<Thread> on = new CompletableFuture<>();
        store.beforeSending("released", () -> {
            task.run();
            on.complete(Thread.currentThread());
        });
        return on.join() == Thread.currentThread();
    }
}
