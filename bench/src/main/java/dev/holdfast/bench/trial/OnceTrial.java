package dev.holdfast.bench.trial;

import dev.holdfast.bench.TemporaryFolder;
import dev.holdfast.bench.run.Schedule;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import dev.holdfast.testbed.PostgresServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** {@code Once} beside ShedLock: the same timers of the same servers, some of which are killed at work. */
final class OnceTrial {
    private static final int SERVERS = 4;
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final Duration POLL = Duration.ofMillis(10);
    private static final int FIRST_IN = 4;
    private static final String SHEDLOCK_TABLE =
            "CREATE TABLE shedlock (name VARCHAR(64) PRIMARY KEY, lock_until TIMESTAMP(3) NOT NULL,"
                    + " locked_at TIMESTAMP(3) NOT NULL, locked_by VARCHAR(255) NOT NULL)";

    private final String url;
    private final Path folder;
    private final long first;
    private final long last;
    private final List<ChildProcess> servers = new ArrayList<>();
    private int kills;

    private OnceTrial(String url, Path folder, int periods) {
        this.url = url;
        this.folder = folder;
        this.first = System.currentTimeMillis() / OnceServer.PERIOD.toMillis() + FIRST_IN;
        this.last = first + periods - 1;
    }

    static boolean run(int periods) throws Exception {
        AtomicBoolean kept = new AtomicBoolean();
        try (PostgresServer postgres = PostgresServer.start()) {
            createTable(postgres.jdbcUrl());
            Trial.describe(periods + " periods of " + OnceServer.PERIOD.toSeconds() + " s on PostgreSQL, " + SERVERS
                    + " servers; in one of ten the server is killed at work, in one of ten the work takes longer than"
                    + " lockAtMostFor and atMost of " + OnceServer.AT_MOST.toMillis() + " ms");
            TemporaryFolder.use(folder -> {
                OnceTrial trial = new OnceTrial(postgres.jdbcUrl(), folder, periods);
                trial.play();
                Trial.head(
                        trial.kills + " kills",
                        "periods",
                        "runs begun",
                        "periods done twice",
                        "periods not done",
                        "of them with a kill",
                        "with work that is too long",
                        "runs that overlap another",
                        "of them without notice to the first run");
                kept.set(OnceLog.of(folder, OnceServer.HOLDFAST).row("Holdfast Once", trial.first, trial.last));
                boolean unused = OnceLog.of(folder, OnceServer.SHEDLOCK).row("ShedLock", trial.first, trial.last);
            });
        }
        return kept.get();
    }

    private void play() {
        try {
            for (int i = 0; i < SERVERS; i++) {
                start();
            }
            long end = (last + 1) * OnceServer.PERIOD.toMillis();
            while (System.currentTimeMillis() < end) {
                for (ChildProcess server : List.copyOf(servers)) {
                    if (server.lines().contains(OnceServer.DOOMED)) {
                        kill(server);
                    }
                }
                Schedule.pause(POLL);
            }
            servers.forEach(server -> server.expect("done", PATIENCE));
        } finally {
            servers.forEach(ChildProcess::close);
        }
    }

    private void kill(ChildProcess server) {
        server.kill();
        OnceServer.note(folder, "kill " + server.pid());
        servers.remove(server);
        kills++;
        start();
    }

    private void start() {
        servers.add(ChildJvm.main(OnceServer.class)
                .flags("-Xmx128m", "-Dslf4j.internal.verbosity=ERROR")
                .args(url, folder.toString(), Long.toString(first), Long.toString(last))
                .start());
    }

    private static void createTable(String url) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute(SHEDLOCK_TABLE);
        }
    }
}
