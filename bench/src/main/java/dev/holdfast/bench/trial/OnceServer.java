package dev.holdfast.bench.trial;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.LockClient;
import dev.holdfast.Once;
import dev.holdfast.OnceOptions;
import dev.holdfast.OnceResult;
import dev.holdfast.bench.run.Schedule;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A server with a timer that fires at the beginning of each period, a little late, for two jobs: one by {@link Once}, one by
 * ShedLock. What the jobs do is noted in a file.
 */
final class OnceServer {
    static final Duration PERIOD = Duration.ofSeconds(2);
    static final Duration AT_MOST = Duration.ofMillis(1_600);
    static final Duration AT_LEAST = Duration.ofSeconds(1);
    static final Duration LEASE = Duration.ofMillis(500);
    static final String HOLDFAST = "holdfast";
    static final String SHEDLOCK = "shedlock";
    static final String DOOMED = "doomed";

    /** Of ten periods, one has a server that is killed at work, and one has work that is too long. */
    private static final int CYCLE = 10;

    private static final int DOOMED_AT = 4;
    private static final int LONG_AT = 8;
    private static final Duration LONG = Duration.ofSeconds(3);
    private static final int SHORT_MILLIS = 200;
    private static final int LATE_MILLIS = 100;

    private final Path folder;
    private final Once once;
    private final LockingTaskExecutor shedLock;
    private final long pid = ProcessHandle.current().pid();

    private OnceServer(Path folder, LockClient client, HikariDataSource pool) {
        this.folder = folder;
        this.once =
                client.once("report", OnceOptions.every(PERIOD).atMost(AT_MOST).lease(LEASE));
        this.shedLock = new DefaultLockingTaskExecutor(
                new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
                        .withJdbcTemplate(new JdbcTemplate(pool))
                        .usingDbTime()
                        .build()));
    }

    /** Arguments: the database, the folder of the log, the first and the last period. */
    public static void main(String[] args) throws InterruptedException {
        long last = Long.parseLong(args[3]);
        ExecutorService threads = Executors.newCachedThreadPool();
        try (LockClient client = LockClient.connect(args[0]);
                HikariDataSource pool = new HikariDataSource()) {
            pool.setJdbcUrl(args[0]);
            pool.setMaximumPoolSize(4);
            OnceServer server = new OnceServer(Path.of(args[1]), client, pool);
            System.out.println("ready");
            long now = System.currentTimeMillis() / PERIOD.toMillis();
            for (long period = Math.max(Long.parseLong(args[2]), now + 1); period <= last; period++) {
                long at =
                        period * PERIOD.toMillis() + ThreadLocalRandom.current().nextInt(LATE_MILLIS);
                Thread.sleep(Math.max(0, at - System.currentTimeMillis()));
                long fired = period;
                threads.execute(() -> server.byHoldfast(fired));
                threads.execute(() -> server.byShedLock(fired));
            }
            Thread.sleep(PERIOD.plus(LONG).toMillis());
        }
        threads.shutdownNow();
        System.out.println("done");
    }

    private void byHoldfast(long fired) {
        try {
            OnceResult result = once.run(AT_MOST, turn -> {
                long period = turn.period().orElseThrow().start().toEpochMilli() / PERIOD.toMillis();
                String run = period + " " + turn.token();
                turn.onLost(loss -> note(HOLDFAST, "lost", run));
                work(HOLDFAST, period, run);
            });
            if (result instanceof OnceResult.Ran ran) {
                note(HOLDFAST, "done", fired + " " + ran.run().token());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void byShedLock(long fired) {
        String run = fired + " " + System.nanoTime();
        shedLock.executeWithLock(
                (Runnable) () -> {
                    work(SHEDLOCK, fired, run);
                    note(SHEDLOCK, "done", run);
                },
                new LockConfiguration(Instant.now(), "report", AT_MOST, AT_LEAST));
    }

    private void work(String library, long period, String run) {
        note(library, "begin", run);
        if (isDoomed(period) && isFirst(library, period)) {
            System.out.println(DOOMED);
            Schedule.pause(Duration.ofMinutes(1));
        }
        Schedule.pause(
                isLong(period)
                        ? LONG
                        : Duration.ofMillis(ThreadLocalRandom.current().nextInt(SHORT_MILLIS)));
        note(library, "end", run);
    }

    /** Whether the first server that works in this period is killed. */
    static boolean isDoomed(long period) {
        return period % CYCLE == DOOMED_AT;
    }

    /** Whether the work of this period takes too long. */
    static boolean isLong(long period) {
        return period % CYCLE == LONG_AT;
    }

    /** Whether nobody was killed in this period yet. */
    private boolean isFirst(String library, long period) {
        try {
            Files.createFile(folder.resolve(library + period));
            return true;
        } catch (FileAlreadyExistsException killed) {
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void note(String library, String event, String run) {
        note(folder, library + " " + event + " " + run + " " + pid);
    }

    /** A line of the log; lines of many processes are whole, in the order of their writing. */
    static void note(Path folder, String line) {
        try {
            Files.write(
                    folder.resolve("log"),
                    (line + " " + System.nanoTime() + "\n").getBytes(StandardCharsets.UTF_8),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
