package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockClient;
import dev.holdfast.TokenGate;
import dev.holdfast.testkit.HoldfastExtension;
import dev.holdfast.testkit.TestLocks;
import dev.holdfast.testkit.Writes;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The snippets of the page on testing, run: each test finds its bug in the code that has it, and passes with the code that
 * is mended.
 */
@Timeout(60)
@ExtendWith(HoldfastExtension.class)
class TestingPageTest {

    // ---- the first test ----

    // @formatter:off
    // snippet testing
    @Test
    void aShipmentReleasesItsLock(TestLocks locks, LockClient client) throws InterruptedException {
        Shipping shipping = new Shipping(client);

        shipping.ship(42);
        locks.assertReleased("order:42");

        locks.somebodyElse().take("order:42");
        assertThrows(IllegalStateException.class, () -> shipping.ship(42));     // does not wait
    }
    // end
    // @formatter:on

    private record Shipping(LockClient client) {
        void ship(int order) throws InterruptedException {
            try (Hold hold = client.lock("order:" + order)
                    .tryAcquire()
                    .orElseThrow(() -> new IllegalStateException("already being shipped"))) {
                assertThat(hold.isValid()).isTrue();
            }
        }
    }

    @Test
    void timeAndOthers(TestLocks locks, LockClient client) {
        locks.somebodyElse().take("report");
        // @formatter:off
        // snippet testingTime
        CompletableFuture<Optional<Hold>> soon = client.lock("report").tryAcquireAsync(Duration.ofMinutes(5));
        locks.advance(Duration.ofMinutes(5));                       // takes no time
        assertThat(soon.join()).isEmpty();
        // end
        // @formatter:on
    }

    // ---- a write after the loss ----

    /** What both have in common. */
    private interface Booking {
        void bookAll(String month) throws InterruptedException;
    }

    private interface NewBooking {
        Booking with(LockClient client, Books books);
    }

    /** Where invoices are booked. */
    private interface Books {
        default List<String> open(String month) {
            return List.of(month + "-1", month + "-2", month + "-3");
        }

        void book(String invoice, long token);
    }

    private record CarelessBooking(LockClient client, Books books) implements Booking {
        @Override
        // @formatter:off
        // snippet bookingBug
        public void bookAll(String month) throws InterruptedException {
            try (Hold hold = client.lock("books:" + month).acquire()) {
                for (String invoice : books.open(month)) {
                    books.book(invoice, hold.token());              // also when the lock is lost
                }
            }
        }
        // end
        // @formatter:on
    }

    private record CarefulBooking(LockClient client, Books books) implements Booking {
        @Override
        // @formatter:off
        // snippet bookingMended
        public void bookAll(String month) throws InterruptedException {
            try (Hold hold = client.lock("books:" + month).acquire()) {
                for (String invoice : books.open(month)) {
                    if (!hold.isValid()) {
                        return;                                     // close() throws HoldLostException
                    }
                    books.book(invoice, hold.token());
                }
            }
        }
        // end
        // @formatter:on
    }

    @Test
    void theWriteAfterTheLossIsFound(TestLocks locks, LockClient client) {
        assertThatThrownBy(() -> losesItsLockWhileBooking(locks, client, CarelessBooking::new))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("write 2 of 3 under 'books:may'")
                .hasMessageContaining("stop working when a hold is lost");
    }

    @Test
    void theMendedBookingStops(TestLocks locks, LockClient client) {
        losesItsLockWhileBooking(locks, client, CarefulBooking::new);
    }

    private static void losesItsLockWhileBooking(TestLocks locks, LockClient client, NewBooking newBooking) {
        // @formatter:off
        // snippet bookingTest
        Writes writes = locks.writes("books:may");
        Books books = (invoice, token) -> {                         // in place of the real ones
            writes.note(token);
            if (writes.tokens().size() == 1) {
                locks.lose("books:may");                            // after the first of three
            }
        };
        Booking booking = newBooking.with(client, books);

        assertThrows(HoldLostException.class, () -> booking.bookAll("may"));
        writes.assertOnlyByHolders();
        // end
        // @formatter:on
    }

    // ---- no check of the token ----

    /** A table that writes what it is told. */
    private static class Stock {
        private int pieces = 10;
        Runnable beforeWrite = () -> {};

        int read() {
            return pieces;
        }

        void write(int left, long token) {
            Runnable before = beforeWrite;
            beforeWrite = () -> {};
            before.run();
            set(left, token);
        }

        void set(int left, long token) {
            assertThat(token).isPositive();
            pieces = left;
        }
    }

    private static final class FencedStock extends Stock {
        private final TokenGate gate = new TokenGate("stock");

        @Override
        void set(int left, long token) {
            gate.check(token);
            super.set(left, token);
        }
    }

    private record Shop(LockClient client, Stock stock, Writes writes) {
        // @formatter:off
        // snippet shop
        void sell() throws InterruptedException {
            try (Hold hold = client.lock("stock:tea").acquire()) {
                int left = stock.read();
                if (hold.isValid()) {                               // a pause may follow
                    stock.write(left - 1, hold.token());
                    writes.note(hold.token());
                }
            }
        }
        // end
        // @formatter:on

        void sellUnchecked() {
            try {
                sell();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @Test
    void theMissingCheckOfTheTokenIsFound(TestLocks locks, LockClient client) {
        Stock stock = new Stock();
        assertThatThrownBy(() -> stopsBeforeItsWrite(locks, client, stock))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("JdbcFence");
        assertThat(stock.pieces).as("two were sold of ten").isEqualTo(9);
    }

    @Test
    void aStockThatChecksTheTokenRefusesTheStaleWrite(TestLocks locks, LockClient client) {
        Stock stock = new FencedStock();
        stopsBeforeItsWrite(locks, client, stock);
        assertThat(stock.pieces).isEqualTo(9);
    }

    private static void stopsBeforeItsWrite(TestLocks locks, LockClient client, Stock stock) {
        // @formatter:off
        // snippet shopTest
        Writes writes = locks.writes("stock:tea");
        Shop here = new Shop(client, stock, writes);
        Shop there = new Shop(locks.anotherClient(), stock, writes);
        stock.beforeWrite = () -> locks.pauseHolder("stock:tea", there::sellUnchecked);

        assertThrows(HoldfastException.class, here::sell);
        writes.assertTokensNeverFall();
        // end
        // @formatter:on
    }

    // ---- the lock inside the transaction ----

    /** A database with a hook before each commit. */
    private static final class Database {
        Runnable beforeCommit = () -> {};
        private int balance = 100;

        interface Work {
            void run(Database in) throws InterruptedException;
        }

        void inTransaction(Work work) throws InterruptedException {
            work.run(this);
            beforeCommit.run();
        }

        void add(int amount, long token) {
            assertThat(token).isPositive();
            balance += amount;
        }
    }

    /** What both have in common. */
    private interface Account {
        void withdraw(int amount) throws InterruptedException;
    }

    private record LockInside(LockClient client, Database database) implements Account {
        @Override
        // @formatter:off
        // snippet accountBug
        public void withdraw(int amount) throws InterruptedException {
            database.inTransaction(transaction -> {
                try (Hold hold = client.lock("account:7").acquire()) {
                    transaction.add(-amount, hold.token());
                }                                                   // released, and not yet committed
            });
        }
        // end
        // @formatter:on
    }

    private record LockOutside(LockClient client, Database database) implements Account {
        @Override
        // @formatter:off
        // snippet accountMended
        public void withdraw(int amount) throws InterruptedException {
            try (Hold hold = client.lock("account:7").acquire()) {
                database.inTransaction(transaction -> transaction.add(-amount, hold.token()));
            }
        }
        // end
        // @formatter:on
    }

    @Test
    void theLockInsideTheTransactionIsFound(TestLocks locks, LockClient client) {
        Database database = new Database();
        assertThatThrownBy(() -> commitsUnderItsLock(locks, database, new LockInside(client, database)))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("commit included");
    }

    @Test
    void theLockOutsideIsHeldAtTheCommit(TestLocks locks, LockClient client) throws InterruptedException {
        Database database = new Database();
        commitsUnderItsLock(locks, database, new LockOutside(client, database));
        assertThat(database.balance).isEqualTo(90);
    }

    private static void commitsUnderItsLock(TestLocks locks, Database database, Account account)
            throws InterruptedException {
        // @formatter:off
        // snippet accountTest
        database.beforeCommit = () -> locks.assertHeld("account:7");

        account.withdraw(10);
        // end
        // @formatter:on
    }
}
