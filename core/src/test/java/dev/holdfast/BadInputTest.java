package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every outside input has a defined answer, on one line. */
@Timeout(120)
class BadInputTest {
    @AutoClose
    private final LockClient client = LockClient.connect("mem:");

    @ParameterizedTest
    @ValueSource(strings = {"", "a\nb", "tab\t", "nul\0", "del\u007f", "c1\u0085", "half\ud800", "\udc00half"})
    void namesWithoutCharactersOrWithControlCharactersAreRefused(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.lock(name))
                .satisfies(e -> assertThat(e.getMessage()).hasLineCount(1).doesNotContain("\0"));
    }

    @Test
    void namesMayHave255CharactersNamespaceIncluded() {
        assertThat(client.lock("n".repeat(255)).tryAcquire()).isPresent();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.lock("n".repeat(256)))
                .withMessageContaining("255")
                .withMessageContaining("256");
        try (LockClient shop = LockClient.builder("mem:").namespace("shop").build()) {
            assertThat(shop.lock("n".repeat(250)).tryAcquire()).isPresent();
            assertThatIllegalArgumentException().isThrownBy(() -> shop.lock("n".repeat(251)));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "a:b", "ü"})
    void badNamespacesAreRefused(String namespace) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockClient.builder("mem:").namespace(namespace))
                .withMessageContaining("namespace");
    }

    @Test
    void leasesOutsideTheirRangeAreRefused() {
        HoldOptions options = HoldOptions.defaults();
        for (Duration bad : new Duration[] {
            Duration.ZERO,
            Duration.ofSeconds(-1),
            Duration.ofNanos(1),
            Duration.ofMillis(99),
            Duration.ofDays(8),
            Duration.ofSeconds(Long.MAX_VALUE)
        }) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> options.lease(bad))
                    .withMessageContaining("100ms to 7d");
        }
        assertThat(options.lease(Duration.ofMillis(100)).lease()).isEqualTo(Duration.ofMillis(100));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.lease(Duration.ofMillis(1)))
                .withMessage("the lease must be 100ms to 7d, not 1ms");
        assertThatIllegalArgumentException().isThrownBy(() -> options.maxHold(Duration.ZERO));
        assertThatIllegalArgumentException().isThrownBy(() -> options.handOver(-1, Duration.ZERO));
        assertThatIllegalArgumentException().isThrownBy(() -> options.handOver(1024, Duration.ZERO));
        assertThatIllegalArgumentException().isThrownBy(() -> options.handOver(1, Duration.ofMinutes(2)));
        assertThatIllegalArgumentException().isThrownBy(() -> options.handOver(1, Duration.ofNanos(-1)));
    }

    @Test
    void waitsMayBeZeroTinyOrHugeButNotNegative() throws Exception {
        DistributedLock lock = client.lock("a");
        Hold hold = lock.acquire();
        assertThat(lock.tryAcquire(Duration.ZERO)).isEmpty();
        assertThat(lock.tryAcquire(Duration.ofNanos(1))).isEmpty();
        assertThatIllegalArgumentException().isThrownBy(() -> lock.tryAcquire(Duration.ofNanos(-1)));
        assertThat(lock.asLock().tryLock(-1, TimeUnit.SECONDS)).isFalse();
        hold.close();
        Hold patient = lock.tryAcquire(Duration.ofSeconds(Long.MAX_VALUE)).orElseThrow();
        patient.close();
        assertThat(lock.asLock().tryLock(Long.MAX_VALUE, TimeUnit.DAYS)).isTrue();
        lock.asLock().unlock();
    }

    @Test
    void aHugeWaitIsForEverNotNoTimeAtAll() throws Exception {
        DistributedLock lock = client.lock("a");
        Hold hold = lock.acquire();
        Thread closer = new Thread(hold::close);
        closer.start();
        assertThat(lock.tryAcquire(Duration.ofSeconds(Long.MAX_VALUE))).isPresent();
        closer.join();
    }

    @Test
    void anUnknownSchemeIsToldWithTheKnownOnes() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockClient.connect("carrier-pigeon://user:secret@loft"))
                .withMessageContaining("carrier-pigeon")
                .withMessageContaining("mem")
                .satisfies(e -> assertThat(e.getMessage()).hasLineCount(1).doesNotContain("secret"));
        for (String url : new String[] {"", "locks.db", ":", "user:secret@host", "C:\\locks.db"}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> LockClient.connect(url))
                    .satisfies(e -> assertThat(e.getMessage()).doesNotContain("secret"));
        }
    }

    @Test
    void aMissingStoreModuleIsToldWithWhatToAdd() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockClient.connect("sqlite:locks.db"))
                .withMessageContaining("dev.holdfast:holdfast-sqlite");
    }

    @Test
    void whatAStoreLacksIsRefusedWithItsNameAndTheStores() {
        HostileStore exclusiveOnly = new HostileStore(new MemoryStore().open());
        exclusiveOnly.caps = all -> HostileStore.with(all, EnumSet.of(LockMode.EXCLUSIVE));
        try (LockClient few = LockClient.builder(exclusiveOnly).build()) {
            assertThatThrownBy(() -> few.readWriteLock("a"))
                    .isInstanceOf(UnsupportedByStoreException.class)
                    .hasMessage("hostile has no read-write locks, so none for 'a': use another store");
            assertThatThrownBy(() -> few.semaphore("a", 2))
                    .isInstanceOf(UnsupportedByStoreException.class)
                    .hasMessageContaining("semaphores");
            assertThat(few.lock("a").tryAcquire()).isPresent();
        }
    }

    @Test
    void closingAClientTwiceDoesNothingAndAfterThatEverythingSaysSo() {
        DistributedLock lock = client.lock("a");
        client.close();
        client.close();
        assertThatThrownBy(lock::tryAcquire).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(lock::status).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(lock::acquireAsync).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> lock.asLock().lock()).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> client.list("*")).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> client.breakGrant("a", 1, false)).isInstanceOf(ClientClosedException.class);
    }

    @Test
    void waitersOfAClientThatIsClosedAreToldToo() throws Exception {
        MemoryStore memory = new MemoryStore();
        try (LockClient holder = LockClient.builder(memory.open()).build();
                Hold hold = holder.lock("a").acquire()) {
            LockClient waiting = LockClient.builder(memory.open()).build();
            var future = waiting.lock("a").acquireAsync();
            waiting.close();
            assertThatThrownBy(future::join).hasCauseInstanceOf(ClientClosedException.class);
            assertThat(holder.lock("a").status().waiting()).isZero();
            assertThat(hold.isValid()).isTrue();
        }
    }
}
