package dev.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoredRecord;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Records whose time has passed are removed by later writes. */
@Timeout(180)
class RecordPurgeTest {
    private static final Duration SHORT = Duration.ofMillis(1);
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final int AT_ONCE = 100;
    private static final int LIVES = 100;
    private static final Duration BETWEEN = Duration.ofMillis(3);

    /** On a machine that starts other servers meanwhile. */
    private static final Duration REQUEST = Duration.ofSeconds(30);

    private static final Paths PATHS = new Paths("");

    private final KitTime time = new KitTime();
    private ZooKeeperServer server;
    private CuratorFramework curator;
    private Store store;

    @BeforeEach
    void open() throws InterruptedException {
        server = ZooKeeperServers.quick();
        curator = CuratorFrameworkFactory.newClient(server.connectString(), 60_000, 15_000, new RetryOneTime(100));
        curator.start();
        curator.blockUntilConnected();
        store = ZooKeeperStores.on(curator, ZooKeeperServers.options().timeout(REQUEST))
                .open(new StoreContext(time));
    }

    @AfterEach
    void close() {
        store.close();
        curator.close();
        server.close();
        time.close();
    }

    @Test
    @Tag("thorough")
    void soManyThatTheirLocksWouldFillABucketAreRemoved() throws Exception {
        String lockBucket = PATHS.bucket("full");
        List<String> names = IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> "full-" + i)
                .filter(name -> PATHS.bucket(name).equals(lockBucket))
                .limit(Buckets.MOST_IN_BUCKET + 100)
                .toList();
        writeAll(names, SHORT);
        List<String> onePerBucket = names.stream()
                .filter(name -> names.stream()
                        .filter(other -> PATHS.recordBucket(other).equals(PATHS.recordBucket(name)))
                        .findFirst()
                        .orElseThrow()
                        .equals(name))
                .toList();

        await().untilAsserted(() -> {
            writeAll(onePerBucket, LONG);
            assertThat(nodes()).hasSize(onePerBucket.size());
        });
        assertThat(answer(store.listRecords("full"))).hasSameSizeAs(onePerBucket);
    }

    @Test
    void aNodeThatCannotBeReadKeepsNoOtherFromBeingRemoved() throws Exception {
        List<String> names = IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> "r-" + i)
                .filter(name -> PATHS.recordBucket(name).equals(PATHS.recordBucket("r-0")))
                .limit(6)
                .toList();
        writeAll(names.subList(0, 3), SHORT);
        curator.create()
                .withACL(List.of(new ACL(ZooDefs.Perms.ALL & ~ZooDefs.Perms.READ, ZooDefs.Ids.ANYONE_ID_UNSAFE)))
                .forPath(PATHS.record(names.get(3)));
        curator.create().forPath(PATHS.record(names.get(4)), new byte[] {'?'});

        await().untilAsserted(() -> {
            writeAll(names.subList(5, 6), LONG);
            assertThat(nodes()).containsExactlyInAnyOrderElementsOf(names.subList(3, 6));
        });
    }

    /** A purge of another client meets the record at any moment, so it is imitated without end. */
    @Test
    @Tag("thorough")
    void aRecordIsMadeAnewWhileItsOldNodeIsBeingRemoved() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Void> purge = CompletableFuture.runAsync(() -> {
            while (!over.get()) {
                LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(BETWEEN.toNanos()));
                try {
                    curator.delete().quietly().forPath(PATHS.record("anew"));
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }
        });
        for (int life = 0; life < LIVES; life++) {
            assertThat(answer(store.writeRecord(new RecordWrite("anew", 1, RecordWrite.ANY, "old", Duration.ZERO))))
                    .isPresent();
            assertThat(answer(store.writeRecord(new RecordWrite("anew", 1, RecordWrite.ABSENT, "new", SHORT))))
                    .as("life %s", life)
                    .isPresent();
            await().until(() -> answer(store.readRecord("anew")).stored().isEmpty());
        }
        over.set(true);
        purge.get(REQUEST.toSeconds(), TimeUnit.SECONDS);
    }

    private List<String> nodes() throws Exception {
        List<String> all = new ArrayList<>();
        for (String bucket : curator.getChildren().forPath(PATHS.records())) {
            all.addAll(curator.getChildren().forPath(PATHS.records() + "/" + bucket));
        }
        return all;
    }

    /** In parts: each write has only the time-out of a request. */
    private void writeAll(List<String> names, Duration keep) throws Exception {
        for (int from = 0; from < names.size(); from += AT_ONCE) {
            List<CompletableFuture<Optional<StoredRecord>>> written =
                    names.subList(from, Math.min(from + AT_ONCE, names.size())).stream()
                            .map(name -> store.writeRecord(new RecordWrite(name, 1, RecordWrite.ANY, "value", keep))
                                    .toCompletableFuture())
                            .toList();
            for (CompletableFuture<Optional<StoredRecord>> each : written) {
                assertThat(answer(each)).isPresent();
            }
        }
    }

    private static <T> T answer(CompletionStage<T> asked) throws Exception {
        return asked.toCompletableFuture().get(2 * REQUEST.toSeconds(), TimeUnit.SECONDS);
    }
}
