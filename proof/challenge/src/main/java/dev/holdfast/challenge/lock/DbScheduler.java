package dev.holdfast.challenge.lock;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerName;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.github.kagkarlsson.scheduler.task.schedule.FixedDelay;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.challenge.lock.LockKind.Place;
import dev.holdfast.challenge.workload.JobOfPeriod;
import dev.holdfast.spi.Mode;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/**
 * db-scheduler's row lock: a recurring task, whose next execution runs on the worker that picks its row. A turn is an
 * execution. A worker that wants none picks none: else most executions would go to workers with nothing to do, and the one
 * that is wanted to hold would take long to get there, beside locks of others that last for ten seconds.
 */
final class DbScheduler implements AttackedLock {
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration HEARTBEAT = Duration.ofSeconds(2);
    private static final int MISSED = 4;

    /** After what time the task of a worker that is silent is begun again. */
    static final Duration DEAD = HEARTBEAT.multipliedBy(MISSED);

    private final SynchronousQueue<Waiting> waiting = new SynchronousQueue<>();
    private final Scheduler scheduler;

    /** A turn that waits for its execution, and learns there that it is over. */
    private record Waiting(Work work, CompletableFuture<Result> over) {
        void run(Instant execution) {
            try {
                work.run(new Grip(0, execution.toEpochMilli(), () -> true));
                over.complete(Result.DONE);
            } catch (Exception | Error failed) {
                over.completeExceptionally(failed);
            }
        }
    }

    DbScheduler(Place place) throws Exception {
        DataSource database =
                place.client(HikariDataSource.class, "db-scheduler", () -> open(place), HikariDataSource::close);
        scheduler = Scheduler.create(database)
                .startTasks(Tasks.recurring(place.name(), FixedDelay.of(JobOfPeriod.PERIOD))
                        .execute((task, context) -> execute(context.getExecution().executionTime)))
                .schedulerName(new SchedulerName.Fixed(
                        ProcessHandle.current().pid() + "-" + place.name().hashCode()))
                .threads(1)
                .pollingInterval(POLL)
                .heartbeatInterval(HEARTBEAT)
                .missedHeartbeatsLimit(MISSED)
                .shutdownMaxWait(POLL)
                .build();
        scheduler.pause();
        scheduler.start();
    }

    private void execute(Instant execution) {
        try {
            Waiting turn = waiting.poll(POLL.toMillis(), TimeUnit.MILLISECONDS);
            if (turn != null) {
                turn.run(execution);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public Result turn(Mode mode, Work work) throws Exception {
        Waiting turn = new Waiting(work, new CompletableFuture<>());
        scheduler.resume();
        try {
            waiting.put(turn);
            return turn.over().join();
        } finally {
            scheduler.pause();
        }
    }

    @Override
    public void close() {
        scheduler.stop();
    }

    private static HikariDataSource open(Place place) throws SQLException {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(place.url());
        if (place.isAlone()) {
            pool.setMaximumPoolSize(2); // one for the task, one for the heartbeat
        }
        boolean isPostgres = place.url().startsWith("jdbc:postgresql:");
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            if (isPostgres) {
                // "if not exists" does not keep two workers from colliding in the catalogue
                statement.execute("select pg_advisory_lock(1)");
            }
            statement.execute("""
                    create table if not exists scheduled_tasks (
                        task_name varchar(100) not null,
                        task_instance varchar(100) not null,
                        task_data %2$s,
                        execution_time %1$s not null,
                        picked boolean not null,
                        picked_by varchar(50),
                        last_success %1$s null,
                        last_failure %1$s null,
                        consecutive_failures int,
                        last_heartbeat %1$s null,
                        version bigint not null,
                        priority smallint,
                        primary key (task_name, task_instance))""".formatted(
                    isPostgres ? "timestamp(6) with time zone" : "timestamp(6)", isPostgres ? "bytea" : "blob"));
            if (isPostgres) {
                statement.execute("select pg_advisory_unlock(1)");
            }
        }
        return pool;
    }
}
