package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.ClientClosedException;
import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.spi.support.DaemonThreads;
import dev.holdfast.tck.KitTime;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requests in a line of their own. */
class ConnectionWorkerTest {
    private static final int THREADS = 4;
    private static final int REQUESTS = 50_000;

    @Test
    void whoeverComesAfterItsEndIsAnsweredHoweverManyComeTogether() {
        Connections none = () -> {
            throw new SQLException("no connection is needed to be refused");
        };
        ConnectionWorker worker = new ConnectionWorker(
                new TableOpener(new H2Dialect(), JdbcOptions.defaults(), none, "a closed store", new KitTime()), 0);
        worker.close(table -> true);
        worker.awaitEnd();

        List<CompletableFuture<List<CompletableFuture<Boolean>>>> asked =
                ServerCases.together(THREADS, thread -> ask(worker));

        assertThat(asked.stream().flatMap(each -> each.join().stream()).filter(answer -> !answer.isDone()))
                .as("left without an answer")
                .isEmpty();
    }

    @Test
    void goesOnAfterATaskThatFails() {
        ConnectionWorker worker = onH2(() -> DriverManager.getConnection("jdbc:h2:mem:lane"));
        CountDownLatch together = new CountDownLatch(1);
        CompletableFuture<Boolean> beside = new CompletableFuture<>();
        try {
            CompletableFuture<Boolean> busy = worker.ask("look at", "a", table -> {
                reached(together); // so that what follows is found together
                return true;
            });
            worker.beforeSending(() -> {
                throw new IllegalStateException("a caller's code");
            });
            worker.beforeSending(() -> beside.complete(true));
            together.countDown();
            assertThat(Requests.get(busy)).isTrue();
            assertThat(Requests.get(beside)).as("a task beside it").isTrue();

            CompletableFuture<Boolean> behind = worker.ask("look at", "a", table -> {
                worker.later(0, () -> {
                    throw new IllegalStateException("a task of later");
                });
                return true;
            });
            assertThat(Requests.get(behind)).isTrue();
            worker.beforeSending(() -> Thread.currentThread().interrupt());

            for (int i = 0; i < 100; i++) { // the thread has waited for some of them
                CompletableFuture<Boolean> last = worker.ask("look at", "a", table -> true);
                assertThat(Requests.get(last)).isTrue();
            }
        } finally {
            worker.close(table -> true);
            worker.awaitEnd();
        }
    }

    @Test
    void goesOnThoughTheLogThrowsWhereATaskFails() {
        ConnectionWorker worker = onH2(() -> DriverManager.getConnection("jdbc:h2:mem:lane"));
        AtomicInteger logged = new AtomicInteger();
        Handler broken = new Handler() {
            @Override
            public void publish(LogRecord line) {
                logged.incrementAndGet();
                throw new NoClassDefFoundError("com/example/Appender");
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger log = Logger.getLogger("dev.holdfast.jdbc");
        log.addHandler(broken);
        try {
            worker.beforeSending(() -> {
                throw new IllegalStateException("a caller's code");
            });
            CompletableFuture<Boolean> beside = worker.ask("look at", "a", table -> {
                worker.later(0, () -> {
                    throw new IllegalStateException("a task of later");
                });
                return true;
            });
            assertThat(Requests.get(beside)).isTrue();
            await().until(() -> logged.get() == 2);
            CompletableFuture<Boolean> after = worker.ask("look at", "a", table -> true);
            assertThat(Requests.get(after)).isTrue();
        } finally {
            log.removeHandler(broken);
            worker.close(table -> true);
            worker.awaitEnd();
        }
    }

    @Test
    void goesOnAfterWhatNobodyHasDeclared() {
        ConnectionWorker worker = onH2(() -> DriverManager.getConnection("jdbc:h2:mem:lane"));
        try {
            CompletableFuture<Boolean> failing = worker.ask("look at", "a", table -> {
                worker.later(0, () -> {
                    throw undeclared(new IOException("a task of later"));
                });
                throw undeclared(new IOException("a driver in another language"));
            });
            assertThatThrownBy(() -> Requests.get(failing))
                    .isInstanceOf(HoldfastException.class)
                    .hasRootCauseMessage("a driver in another language");

            CompletableFuture<Boolean> next = worker.ask("look at", "a", table -> true);
            assertThat(Requests.get(next)).isTrue();
        } finally {
            worker.close(table -> true);
            worker.awaitEnd();
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> RuntimeException undeclared(Throwable checked) throws T {
        throw (T) checked;
    }

    @Test
    void aWaitThatCannotBePutInLineFails() {
        Connections connections = () -> DriverManager.getConnection("jdbc:h2:mem:lane");
        TableOpener tables = tables(connections);
        ConnectionWorker worker = new ConnectionWorker(tables, 0, (name, work) -> new Thread(work, name) {
            @Override
            @SuppressWarnings("UnsynchronizedOverridesSynchronized") // it is so in Java 17 only
            public void start() {
                throw new IllegalStateException("not put in line");
            }
        });
        PendingClaims queue = new PendingClaims(tables, "channel", connections);
        try {
            Asked waiting = Asked.of((claim, answer) -> queue.claim(claim, answer, worker), Requests.waiting("a"));

            assertThatThrownBy(() -> Requests.get(waiting.answer())).hasMessage("not put in line");
            assertThat(queue.hasWaiters()).isFalse();
        } finally {
            queue.close();
        }
    }

    @Test
    void refusesWhatItIsAskedWhileNoThreadCanBeStartedAndServesWhatComesLater() {
        ScarceThreads threads = new ScarceThreads();
        ConnectionWorker worker =
                new ConnectionWorker(tables(() -> DriverManager.getConnection("jdbc:h2:mem:lane")), 0, threads);
        try {
            threads.none(true);
            CompletableFuture<Boolean> first = worker.ask("look at", "a", table -> true);
            assertThatThrownBy(() -> Requests.get(first))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("no thread");

            threads.none(false);

            CompletableFuture<Boolean> second = worker.ask("look at", "a", table -> true);
            assertThat(Requests.get(second)).isTrue();
        } finally {
            worker.close(table -> true);
            worker.awaitEnd();
        }
    }

    @Test
    @Tag("thorough")
    void answersInTimeWhileAConnectionIsBeingOpenedAndUsesItThen() throws Exception {
        CountDownLatch lent = new CountDownLatch(1);
        ConnectionWorker worker = onH2(() -> {
            try {
                lent.await(); // a pool that has none left
            } catch (InterruptedException e) {
                throw new SQLException(e);
            }
            return DriverManager.getConnection("jdbc:h2:mem:lane");
        });
        try {
            CompletableFuture<Boolean> first = worker.ask("look at", "a", table -> true);
            CompletableFuture<Boolean> second = worker.ask("look at", "b", table -> true);
            for (CompletableFuture<Boolean> each : List.of(first, second)) {
                assertThatThrownBy(() -> Requests.get(each))
                        .isInstanceOf(StoreUnavailableException.class)
                        .hasMessageContaining("5 s");
            }

            lent.countDown();

            CompletableFuture<Boolean> third = worker.ask("look at", "a", table -> true);
            assertThat(Requests.get(third)).isTrue();
        } finally {
            lent.countDown();
            worker.close(table -> true);
            worker.awaitEnd();
        }
    }

    @Test
    void answersEverybodyThoughAPoolThrowsWhenItGetsAConnectionBack() throws Exception {
        ConnectionWorker worker = onH2(() -> throwing(DriverManager.getConnection("jdbc:h2:mem:lane")));
        CompletableFuture<Boolean> last;
        try {
            CompletableFuture<Boolean> broken = worker.askOnce("look at", "a", table -> {
                throw new SQLException("the connection is gone", "08006");
            });
            assertThatThrownBy(() -> Requests.get(broken)).isInstanceOf(StoreUnavailableException.class);
            CompletableFuture<Boolean> next = worker.ask("look at", "a", table -> true);
            assertThat(Requests.get(next)).isTrue();
        } finally {
            worker.close(table -> true);
            worker.awaitEnd();
        }
        last = worker.ask("look at", "a", table -> true);
        assertThatThrownBy(() -> Requests.get(last)).isInstanceOf(ClientClosedException.class);
    }

    private static Connection throwing(Connection real) {
        return (Connection) Proxy.newProxyInstance(
                ConnectionWorkerTest.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("close")) {
                        throw new IllegalStateException("the pool is closed");
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Test
    void answersAllThatAreLeftAtItsEndThoughATaskFails() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        ConnectionWorker worker = onH2(() -> DriverManager.getConnection("jdbc:h2:mem:lane"));
        worker.ask("look at", "a", table -> {
            DaemonThreads.awaitEnd(closing(worker, goOn)); // its end begins while more are in line
            return true;
        });
        worker.beforeSending(() -> {
            throw new IllegalStateException("a caller's code");
        });
        CompletableFuture<Boolean> behind = worker.ask("look at", "a", table -> true);
        goOn.countDown();

        assertThatThrownBy(() -> Requests.get(behind)).isInstanceOf(ClientClosedException.class);
        worker.awaitEnd();
    }

    private static Thread closing(ConnectionWorker worker, CountDownLatch when) {
        Thread thread = DaemonThreads.daemon("closing", () -> {
            reached(when);
            worker.close(table -> true);
        });
        thread.start();
        return thread;
    }

    private static void reached(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void knowsThatAReleaseWasNeverSentWhenNoConnectionCouldBeOpened() throws Exception {
        AtomicInteger opened = new AtomicInteger();
        ConnectionWorker worker = onH2(() -> {
            if (opened.getAndIncrement() == 0) {
                throw new SQLException("nobody listens there", "08001");
            }
            return DriverManager.getConnection("jdbc:h2:mem:unsent;DB_CLOSE_DELAY=-1");
        });
        try (Connection keeps = DriverManager.getConnection("jdbc:h2:mem:unsent;DB_CLOSE_DELAY=-1")) {
            TableOpener tables = tables(() -> DriverManager.getConnection("jdbc:h2:mem:unsent;DB_CLOSE_DELAY=-1"));
            LockRows table = tables.open();
            tables.prepare(table);
            tables.returnSession(table.session(), false);
            assertThat(keeps.isClosed()).isFalse();

            assertThat(Requests.get(worker.release("a", ClaimId.random()))).isFalse();
            assertThat(opened).hasValue(2);
        } finally {
            worker.close(table -> true);
            worker.awaitEnd();
        }
    }

    @Test
    void servesRequestsBetweenTheRowsThatAreRemoved() throws Exception {
        Meddling connections = new Meddling("jdbc:h2:mem:purged;DB_CLOSE_DELAY=-1");
        TableOpener tables = tables(connections);
        LockRows table = tables.open();
        tables.prepare(table);
        for (int i = 0; i < 100; i++) {
            table.session()
                    .execute("INSERT INTO holdfast_lock VALUES ('idle " + i
                            + "', 1, 1, NULL, 0, 0, 0, '', '', '', 0, '', '')");
        }
        table.session().execute("UPDATE holdfast_lock SET expires_at = 0"); // nobody has removed any for long
        ConnectionWorker worker = new ConnectionWorker(tables, 0);
        AtomicInteger removed = new AtomicInteger();
        CompletableFuture<Integer> removedBefore = new CompletableFuture<>();
        connections.meddle(sql -> {
            if (sql.startsWith("DELETE") && removed.incrementAndGet() == 1) {
                worker.ask("look at", "a", open -> removedBefore.complete(removed.get()));
            }
        });
        try {
            new TablePurge(worker, false, () -> true).begin();

            assertThat(removedBefore.get(20, TimeUnit.SECONDS)).isLessThanOrEqualTo(10);
            await().atMost(Duration.ofSeconds(20)).until(() -> removed.get() == 100);
        } finally {
            worker.close(open -> true);
            worker.awaitEnd();
            tables.returnSession(table.session(), false);
        }
    }

    private static ConnectionWorker onH2(Connections connections) {
        return new ConnectionWorker(tables(connections), 0);
    }

    private static TableOpener tables(Connections connections) {
        return new TableOpener(new H2Dialect(), JdbcOptions.defaults(), connections, "a store", new KitTime());
    }

    private static List<CompletableFuture<Boolean>> ask(ConnectionWorker worker) {
        List<CompletableFuture<Boolean>> answers = new ArrayList<>();
        for (int i = 0; i < REQUESTS; i++) {
            answers.add(worker.ask("look at", "a", table -> true));
        }
        return answers;
    }
}
