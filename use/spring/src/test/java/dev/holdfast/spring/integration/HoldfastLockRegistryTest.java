package dev.holdfast.spring.integration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spring.boot.HoldfastAutoConfiguration;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;

/** Spring Integration's locks on Holdfast: what its own registries promise, and its leader election. */
class HoldfastLockRegistryTest {
    private static final long MINUTE = 60;

    private final LockClient client = LockClient.connect("mem:registry");
    private final LockClient other = LockClient.connect("mem:registry");
    private final HoldfastLockRegistry registry = new HoldfastLockRegistry(client, "app");
    private final HoldfastLockRegistry elsewhere = new HoldfastLockRegistry(other, "app");

    @AfterEach
    void close() {
        client.close();
        other.close();
    }

    @Test
    void twoRegistriesOnOneStoreExcludeEachOther() throws Exception {
        DistributedLock mine = registry.obtain("foo");
        DistributedLock theirs = elsewhere.obtain("foo");
        mine.lockInterruptibly();
        assertThat(theirs.tryLock()).isFalse();
        assertThat(theirs.tryLock(1, TimeUnit.MILLISECONDS)).isFalse();
        mine.unlock();
        assertThat(theirs.tryLock(MINUTE, TimeUnit.SECONDS)).isTrue();
        theirs.unlock();
    }

    @Test
    void aThreadEntersAgainAndUnlocksAsOften() throws Exception {
        DistributedLock lock = registry.obtain("foo");
        lock.lock();
        lock.lock();
        assertThat(lock.tryLock()).isTrue();
        lock.unlock();
        lock.unlock();
        assertThat(inAnotherThread(() -> elsewhere.obtain("foo").tryLock())).isFalse();
        lock.unlock();
        assertThat(elsewhere.obtain("foo").tryLock(MINUTE, TimeUnit.SECONDS)).isTrue();
        elsewhere.obtain("foo").unlock();
    }

    @Test
    void theLockOfAKeyIsTheSame() {
        assertThat(registry.obtain("foo")).isSameAs(registry.obtain("foo")).isNotSameAs(registry.obtain("bar"));
    }

    @Test
    void anotherThreadCannotUnlock() throws Exception {
        DistributedLock lock = registry.obtain("foo");
        lock.lock();
        assertThat(inAnotherThread(() -> {
                    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
                    return lock.tryLock();
                }))
                .isFalse();
        lock.unlock();
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    void aLockWithATimeToLiveEndsWithItUnlessItIsRenewed() throws Exception {
        ManualTime time = new ManualTime();
        MemoryStore store = new MemoryStore(time);
        try (LockClient timed = LockClient.builder(store.open(time)).time(time).build()) {
            HoldfastLockRegistry registry = new HoldfastLockRegistry(timed, "app");
            DistributedLock lock = registry.obtain("foo");
            lock.lock(Duration.ofSeconds(10));
            time.advance(Duration.ofSeconds(8));
            registry.renewLock("foo", Duration.ofSeconds(10));
            time.advance(Duration.ofSeconds(8));
            assertThat(inAnotherThread(lock::tryLock)).isFalse();
            time.advance(Duration.ofSeconds(3));
            assertThatThrownBy(() -> registry.renewLock("foo")).isInstanceOf(ConcurrentModificationException.class);
            assertThatThrownBy(lock::unlock).isInstanceOf(ConcurrentModificationException.class);
            assertThat(lock.tryLock(Duration.ZERO, Duration.ofSeconds(10))).isTrue();
            lock.unlock();
        }
    }

    @Test
    void onlyItsOwnerRenewsALock() throws Exception {
        assertThatThrownBy(() -> registry.renewLock("foo")).isInstanceOf(IllegalStateException.class);
        registry.obtain("foo").lock();
        registry.renewLock("foo");
        assertThat(inAnotherThread(() -> {
                    assertThatThrownBy(() -> registry.renewLock("foo")).isInstanceOf(IllegalStateException.class);
                    return false;
                }))
                .isFalse();
        registry.obtain("foo").unlock();
    }

    @Test
    void anyKeyIsAName() {
        for (Object key : new Object[] {7, "", "two\nlines", "long".repeat(100), java.util.UUID.randomUUID()}) {
            DistributedLock lock = registry.obtain(key);
            lock.lock();
            lock.unlock();
        }
    }

    @Test
    void noTwoRegistriesAndKeysShareALock() throws Exception {
        DistributedLock first = new HoldfastLockRegistry(client, "app:eu").obtain("7");
        DistributedLock second = new HoldfastLockRegistry(client, "app").obtain("eu:7");
        String unusable = "two\nlines";
        DistributedLock hashed = new HoldfastLockRegistry(client, "app").obtain(unusable);
        DistributedLock asItsHash =
                new HoldfastLockRegistry(client, "app").obtain(UUID.nameUUIDFromBytes(unusable.getBytes(UTF_8)));
        first.lock();
        hashed.lock();
        assertThat(inAnotherThread(second::tryLock)).isTrue();
        assertThat(inAnotherThread(asItsHash::tryLock)).isTrue();
        first.unlock();
        hashed.unlock();
    }

    @Test
    void anyKeyIsANameAlsoBehindALongNamespace() {
        String namespace = "n".repeat(64);
        try (LockClient far = LockClient.builder("mem:").namespace(namespace).build()) {
            HoldfastLockRegistry registry = new HoldfastLockRegistry(far, "integration");
            for (int length = 150; length < 210; length++) {
                DistributedLock lock = registry.obtain("k".repeat(length));
                lock.lock();
                lock.unlock();
            }
            DistributedLock half = registry.obtain("half a surrogate \ud800");
            half.lock();
            half.unlock();
        }
    }

    @Test
    void keysThatAreUsedOnceDoNotFillTheMemory() {
        HoldfastLockRegistry registry =
                new HoldfastLockRegistry(client, "app", HoldOptions.defaults(), 100, Duration.ZERO, System::nanoTime);
        DistributedLock held = registry.obtain("held");
        held.lock();
        for (int key = 0; key < 1_000; key++) {
            registry.obtain(key);
            assertThat(registry.size()).isLessThanOrEqualTo(100);
        }
        assertThat(registry.obtain("held")).isSameAs(held);
        held.unlock();
    }

    @Test
    void aLockIsRenewedAlsoWhereOtherHoldsAreNot() throws Exception {
        ManualTime time = new ManualTime();
        MemoryStore store = new MemoryStore(time);
        try (LockClient timed = LockClient.builder(store.open(time)).time(time).build()) {
            HoldOptions notRenewed = HoldOptions.defaults().autoRenew(false);
            DistributedLock lock = new HoldfastLockRegistry(timed, "app", notRenewed).obtain("foo");
            lock.lock();
            for (int i = 0; i < 12; i++) {
                time.advance(Duration.ofSeconds(5));
            }
            assertThat(inAnotherThread(lock::tryLock)).isFalse();
            lock.unlock();
        }
    }

    @Test
    void unusedLocksAreForgottenAndUsedOnesAreNot() {
        DistributedLock unused = registry.obtain("unused");
        DistributedLock used = registry.obtain("used");
        used.lock();
        registry.expireUnusedOlderThan(0);
        assertThat(registry.obtain("unused")).isNotSameAs(unused);
        assertThat(registry.obtain("used")).isSameAs(used);
        used.unlock();
    }

    @Test
    void aLockOfAThreadThatEndedWithoutUnlockingItIsForgotten() throws InterruptedException {
        Thread careless = new Thread(registry.obtain("careless")::lock);
        careless.start();
        careless.join();
        registry.expireUnusedOlderThan(0);
        assertThat(registry.size()).isZero();
    }

    @Test
    void aLockThatIsObtainedWhileUnusedOnesAreForgottenStays() throws Exception {
        AtomicLong now = new AtomicLong();
        HoldfastLockRegistry registry =
                new HoldfastLockRegistry(client, "app", HoldOptions.defaults(), 10_000, Duration.ZERO, now::get);
        for (int round = 0; round < 200; round++) {
            now.addAndGet(Duration.ofMinutes(MINUTE).toNanos()); // each lock is unused until it is obtained once more
            CompletableFuture<Void> forgets = CompletableFuture.runAsync(
                    () -> registry.expireUnusedOlderThan(Duration.ofMinutes(1).toMillis()));
            List<DistributedLock> obtained = obtainAll(registry);
            forgets.get(MINUTE, TimeUnit.SECONDS);
            assertThat(obtainAll(registry)).isEqualTo(obtained);
        }
    }

    private static List<DistributedLock> obtainAll(HoldfastLockRegistry registry) {
        return IntStream.range(0, 1_000).mapToObj(registry::obtain).toList();
    }

    @Test
    void aBlockOfCodeRunsUnderALock() throws Exception {
        assertThat(registry.executeLocked(
                        "foo", () -> client.lock("app:foo").status().grant().isPresent()))
                .isTrue();
        assertThat(client.lock("app:foo").tryAcquire(Duration.ofMinutes(1)))
                .get()
                .satisfies(Hold::close);
    }

    @Test
    void leadersOfSpringIntegrationFollowEachOther() throws Exception {
        Leader first = new Leader("first");
        Leader second = new Leader("second");
        LockRegistryLeaderInitiator one = initiator(registry, first);
        LockRegistryLeaderInitiator two = initiator(elsewhere, second);
        one.start();
        assertThat(first.next()).isEqualTo("granted");
        two.start();
        assertThat(two.getContext().isLeader()).isFalse();
        one.stop();
        assertThat(first.next()).isEqualTo("revoked");
        assertThat(second.next()).isEqualTo("granted");
        two.stop();
        assertThat(second.next()).isEqualTo("revoked");
        one.destroy();
        two.destroy();
    }

    @Test
    void aLeaderWhoseLockIsBrokenIsRevoked() throws Exception {
        Leader leader = new Leader("only");
        HoldOptions shortLease = HoldOptions.defaults().lease(Duration.ofSeconds(5));
        LockRegistryLeaderInitiator initiator = initiator(new HoldfastLockRegistry(client, "app", shortLease), leader);
        initiator.start();
        assertThat(leader.next()).isEqualTo("granted");
        long token = other.lock("app:leader").status().grant().orElseThrow().token();
        assertThat(other.breakGrant("app:leader", token, true)).isTrue();
        assertThat(leader.next()).isEqualTo("revoked");
        assertThat(leader.next()).isEqualTo("granted");
        initiator.stop();
        initiator.destroy();
    }

    @Test
    void anApplicationWithSpringIntegrationHasARegistry() {
        new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(HoldfastAutoConfiguration.class, LockRegistryAutoConfiguration.class))
                .withPropertyValues("holdfast.store=mem:")
                .run(context ->
                        assertThat(context.getBean(LockRegistry.class)).isInstanceOf(HoldfastLockRegistry.class));
    }

    private static LockRegistryLeaderInitiator initiator(LockRegistry<?> registry, Leader leader) {
        LockRegistryLeaderInitiator initiator = new LockRegistryLeaderInitiator(registry, leader);
        initiator.setHeartBeatMillis(10);
        initiator.setBusyWaitMillis(10);
        return initiator;
    }

    private static boolean inAnotherThread(java.util.concurrent.Callable<Boolean> task) throws Exception {
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                result.complete(task.call());
            } catch (Throwable failed) {
                result.completeExceptionally(failed);
            }
        });
        thread.start();
        return result.get(MINUTE, TimeUnit.SECONDS);
    }

    private static final class Leader extends DefaultCandidate {
        private final BlockingQueue<String> events = new LinkedBlockingQueue<>();

        Leader(String id) {
            super(id, "leader");
        }

        @Override
        public void onGranted(Context context) {
            events.add("granted");
        }

        @Override
        public void onRevoked(Context context) {
            events.add("revoked");
        }

        String next() throws InterruptedException {
            return events.poll(1, TimeUnit.MINUTES);
        }
    }
}
