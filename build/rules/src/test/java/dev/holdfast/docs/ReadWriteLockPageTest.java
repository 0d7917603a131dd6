package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.concurrent.locks.ReadWriteLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The snippets of the page on the read-write lock, run, and what it says of a cache beside a database. */
@Timeout(120)
class ReadWriteLockPageTest {
    private static final int ITEM = 7;
    private static final int OLD = 100;
    private static final int NEW = 200;
    private static final Duration PAST_THE_LEASE = Duration.ofSeconds(31);

    private final ManualTime time = new ManualTime();
    private final MemoryStore memory = new MemoryStore(time);
    private final LockClient client =
            LockClient.builder(memory.open(time)).time(time).build();
    private final PriceTable table = new PriceTable();
    private final PriceCache cache = new PriceCache();
    /** Nobody renews, as nobody does while a process is stopped. */
    private final Prices prices = new Prices(client, HoldOptions.defaults().autoRenew(false), table, cache);

    private final Home home = new Home();

    @BeforeEach
    void aPrice() {
        table.add(ITEM, OLD);
    }

    @AfterEach
    void close() {
        client.close();
        table.close();
    }

    @Test
    void house() throws InterruptedException {
        // @formatter:off
        // snippet house
        DistributedReadWriteLock house = client.readWriteLock("house");

        try (Hold visit = house.read().acquire()) {         // in the house with all others who have a key
            home.lookAround();
        }
        try (Hold work = house.write().acquire()) {         // alone, until the lock is changed
            home.changeLock(work.token());
        }
        // end
        // @formatter:on
        assertThat(home.visits).isOne();
        assertThat(home.newestLock).isPositive();
    }

    @Test
    void downgrade() throws InterruptedException {
        DistributedReadWriteLock house = client.readWriteLock("house");
        DistributedReadWriteLock others = house;
        // @formatter:off
        // snippet downgrade
        try (Hold work = house.write().acquire()) {
            home.changeLock(work.token());
            house.downgrade(work);                          // others may visit; no other work before this closes
            home.lookAround();
        }
        // end
        // @formatter:on
        try (Hold work = house.write().acquire()) {
            assertThat(others.read().tryAcquire()).isEmpty();
            house.downgrade(work);
            assertThat(others.read().tryAcquire()).hasValueSatisfying(Hold::close);
        }
    }

    @Test
    void java() {
        DistributedReadWriteLock house = client.readWriteLock("house");
        // @formatter:off
        // snippet readWriteJava
        ReadWriteLock javaLock = house.asReadWriteLock();   // owned by its thread, re-entrant
        javaLock.readLock().lock();
        try {
            home.lookAround();
        } finally {
            javaLock.readLock().unlock();
        }
        // end
        // @formatter:on
        assertThat(home.visits).isOne();
    }

    @Test
    void withoutALockALateFillStaysWhereItIsWrong() {
        int seen = table.amount(ITEM);
        table.write(ITEM, NEW, 1);
        cache.clear(ITEM, 1);
        cache.fillWhoever(ITEM, seen);

        assertThat(cache.get(ITEM)).hasValue(OLD);
        assertThat(table.amount(ITEM)).isEqualTo(NEW);
    }

    @Test
    void underTheLockTheCacheShowsWhatTheDatabaseHolds() throws InterruptedException {
        assertThat(prices.priceOf(ITEM)).isEqualTo(OLD);
        assertThat(cache.get(ITEM)).hasValue(OLD);
        assertThat(prices.change(ITEM, NEW)).isTrue();
        assertThat(cache.get(ITEM)).isEmpty();
        assertThat(prices.priceOf(ITEM)).isEqualTo(NEW);
        assertThat(cache.get(ITEM)).hasValue(NEW);
    }

    @Test
    void noWriterComesBetweenAReadersReadAndItsFill() throws InterruptedException {
        try (Hold reading = prices.lock(ITEM).read().acquire()) {
            assertThat(prices.lock(ITEM).write().tryAcquire()).isEmpty();
            assertThat(prices.lock(ITEM).read().tryAcquire()).hasValueSatisfying(Hold::close);
            assertThat(reading.isValid()).isTrue();
        }
    }

    @Test
    void aReaderWhoWasStoppedPastItsLeaseFillsNothing() throws InterruptedException {
        Hold late = prices.lock(ITEM).read().acquire();
        int seen = table.read(ITEM, late.token());
        time.advance(PAST_THE_LEASE);
        prices.change(ITEM, NEW);

        cache.fill(ITEM, seen, late.token());

        assertThat(cache.get(ITEM)).isEmpty();
        assertThat(prices.priceOf(ITEM)).isEqualTo(NEW);
        assertThatThrownBy(late::close).isInstanceOf(HoldLostException.class);
    }

    @Test
    void aWriterWhoWasStoppedPastItsLeaseWritesNothingOnceAReaderWasThere() throws InterruptedException {
        Hold late = prices.lock(ITEM).write().acquire();
        cache.clear(ITEM, late.token());
        time.advance(PAST_THE_LEASE);
        assertThat(prices.priceOf(ITEM)).isEqualTo(OLD);

        assertThat(table.write(ITEM, NEW, late.token())).isFalse();

        assertThat(cache.get(ITEM)).hasValue(table.amount(ITEM));
        assertThatThrownBy(late::close).isInstanceOf(HoldLostException.class);
    }

    @Test
    void aWriterWhoWasStoppedPastItsLeaseClearsNothingOfALaterOne() throws InterruptedException {
        Hold late = prices.lock(ITEM).write().acquire();
        time.advance(PAST_THE_LEASE);
        prices.change(ITEM, NEW);
        prices.priceOf(ITEM);

        cache.clear(ITEM, late.token());

        assertThat(cache.get(ITEM)).hasValue(NEW);
        assertThatThrownBy(late::close).isInstanceOf(HoldLostException.class);
    }

    private static final class Home {
        int visits;
        long newestLock;

        void lookAround() {
            visits++;
        }

        void changeLock(long number) {
            newestLock = number;
        }
    }
}
