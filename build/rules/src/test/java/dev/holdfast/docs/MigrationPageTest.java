package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.Once;
import dev.holdfast.OnceOptions;
import dev.holdfast.OnceResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Holdfast's side of the pages for those who come from another library, run. */
@Timeout(120)
class MigrationPageTest {
    @AutoClose
    private final LockClient client = LockClient.connect("mem:");

    private final Orders orders = new Orders();
    private final Orders users = orders;
    private final List<Long> reports = new ArrayList<>();

    @Test
    void bothLocksAreTakenDuringTheChange() throws InterruptedException {
        Lock old = new ReentrantLock();
        // @formatter:off
        // snippet migrateBoth
        old.lock();                                             // as before; all versions take it first
        try (Hold hold = client.lock("order:42").acquire()) {
            orders.charge(42, hold.token());
        } finally {
            old.unlock();
        }
        // end
        // @formatter:on
        assertThat(orders.charged).hasSize(1);
        assertThat(client.lock("order:42").status().isHeld()).isFalse();
    }

    @Test
    void fromRedisson() throws InterruptedException {
        // @formatter:off
        // snippet migrateRedisson
        try (Hold hold = client.lock("order:42").acquire()) {           // RLock.lock(): renewed while it is open
            orders.charge(42, hold.token());
        }
        // end
        // snippet migrateRedissonLease
        HoldOptions tenSeconds = HoldOptions.defaults().lease(Duration.ofSeconds(10)).autoRenew(false);
        DistributedLock lock = client.lock("order:42", tenSeconds);
        Optional<Hold> soon = lock.tryAcquire(Duration.ofSeconds(5));   // tryLock(5, 10, SECONDS)
        // end
        // @formatter:on
        assertThat(soon.orElseThrow().remaining()).isLessThan(Duration.ofSeconds(10));
        soon.orElseThrow().close();
    }

    @Test
    void fromCurator() throws InterruptedException {
        // @formatter:off
        // snippet migrateCurator
        try (Hold hold = client.lock("orders/42").acquire()) {          // InterProcessSemaphoreMutex.acquire() and release()
            orders.charge(42, hold.token());
        }
        // end
        // snippet migrateCuratorMutex
        Lock mutex = client.lock("orders/42").asLock();                 // InterProcessMutex: owned by its thread, re-entrant
        mutex.lock();
        try {
            orders.charge(42, 0);
        } finally {
            mutex.unlock();
        }
        // end
        // @formatter:on
        assertThat(orders.charged).hasSize(2);
    }

    @Test
    void fromShedLockWithARecord() {
        // @formatter:off
        // snippet migrateShedLockOnce
        Once report = client.once("report", OnceOptions.every(Duration.ofHours(1)).atMost(Duration.ofMinutes(20)));

        OnceResult result = report.run(turn -> writeReport(turn.token()));      // each server calls this from its timer
        // end
        // @formatter:on
        assertThat(result.ran()).isTrue();
        assertThat(reports).hasSize(1);
    }

    @Test
    void fromShedLockWithoutARecord() throws InterruptedException {
        // @formatter:off
        // snippet migrateShedLockSkip
        DistributedLock lock = client.lock("report", HoldOptions.defaults().maxHold(Duration.ofMinutes(20)));

        boolean ran = lock.run(Duration.ZERO, hold -> writeReport(hold.token()));   // false: another server is at work
        // end
        // @formatter:on
        assertThat(ran).isTrue();
        try (Hold other = lock.acquire()) {
            assertThat(lock.run(Duration.ZERO, hold -> writeReport(other.token())))
                    .isFalse();
        }
        assertThat(reports).hasSize(1);
    }

    @Test
    void fromSpringIntegration() throws InterruptedException {
        // @formatter:off
        // snippet migrateSpring
        Lock lock = client.lock("order:42").asLock();               // registry.obtain("order:42")
        if (lock.tryLock(2, TimeUnit.SECONDS)) {
            try {
                orders.charge(42, 0);
            } finally {
                lock.unlock();
            }
        }
        // end
        // snippet migrateSpringHold
        client.lock("order:42").run(hold -> orders.charge(42, hold.token()));       // registry.executeLocked(…)
        // end
        // @formatter:on
        assertThat(orders.charged).hasSize(2);
    }

    @Test
    void fromLock4j() throws InterruptedException {
        int id = 7;
        // @formatter:off
        // snippet migrateLock4j
        DistributedLock lock = client.lock("user:" + id);
        boolean ran = lock.run(Duration.ofSeconds(3), hold -> users.update(id, hold.token()));      // @Lock4j(keys = "#id")
        if (!ran) {
            throw new IllegalStateException("user " + id + " is being changed; try again");         // LockFailureStrategy
        }
        // end
        // @formatter:on
        assertThat(users.charged).containsExactly(7);
    }

    @Test
    void fromJetcd() throws InterruptedException {
        // @formatter:off
        // snippet migrateJetcd
        try (Hold hold = client.lock("order:42").acquire()) {       // etcd.getLockClient().lock(name, lease).get().getKey()
            orders.charge(42, hold.token());
        }                                                           // etcd.getLockClient().unlock(key).get()
        // end
        // @formatter:on
        assertThat(orders.charged).hasSize(1);
    }

    @Test
    void fromHazelcast() throws InterruptedException {
        // @formatter:off
        // snippet migrateHazelcast
        try (Hold hold = client.lock("order:42").acquire()) {
            orders.charge(42, hold.token());                        // long fence = lock.lockAndGetFence()
        }
        // end
        // @formatter:on
        assertThat(orders.charged).hasSize(1);
    }

    private void writeReport(long token) {
        reports.add(token);
    }

    private static final class Orders {
        final List<Integer> charged = new ArrayList<>();

        void charge(int order, long token) {
            assertThat(token).isNotNegative();
            charged.add(order);
        }

        void update(int user, long token) {
            charge(user, token);
        }
    }
}
