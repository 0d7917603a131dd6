package dev.holdfast.bench.trial;

import dev.holdfast.bench.TemporaryFolder;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.ZooKeeperServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/** Leaders that are killed and stopped: Holdfast, Curator and Spring Integration in the same processes. */
final class LeaderTrial {
    private static final int GROUPS = 3;
    private static final int RESIGNS = 51;
    private static final String SPRING_TABLE =
            "CREATE TABLE INT_LOCK (LOCK_KEY CHAR(36) NOT NULL, REGION VARCHAR(100) NOT NULL, CLIENT_ID CHAR(36),"
                    + " CREATED_DATE TIMESTAMP NOT NULL, EXPIRED_AFTER TIMESTAMP NOT NULL,"
                    + " CONSTRAINT INT_LOCK_PK PRIMARY KEY (LOCK_KEY, REGION))";

    private LeaderTrial() {}

    /**
     * Runs it.
     *
     * @param faults how many times a process is killed or stopped
     * @param longest after this time nothing more is broken
     */
    static boolean run(int faults, Duration longest) throws Exception {
        Map<LeaderPeer, LeaderFigures> figures = new EnumMap<>(LeaderPeer.class);
        for (LeaderPeer peer : LeaderPeer.values()) {
            figures.put(peer, new LeaderFigures());
        }
        AtomicBoolean whole = new AtomicBoolean();
        try (RedisServer redis = RedisServer.start();
                PostgresServer postgres = PostgresServer.start("-c", "max_connections=500");
                ZooKeeperServer zooKeeper =
                        ZooKeeperServer.start(Map.of("tickTime", Long.toString(LeaderPeer.TICK.toMillis())))) {
            createTable(postgres.jdbcUrl());
            List<String> urls = List.of(redis.uri(), postgres.jdbcUrl(), "zk://" + zooKeeper.connectString());
            Trial.describe(faults + " kills and stops of a process, in " + GROUPS
                    + " groups of 3 processes, each of which stands in all six elections; leases and sessions of "
                    + LeaderPeer.LEASE.toSeconds() + " s");
            long end = System.nanoTime() + longest.toNanos();
            TemporaryFolder.use(folder -> whole.set(run(folder, urls, faults, end, figures)));
        }
        Trial.describe("at its end");
        LeaderFigures.head();
        figures.forEach((peer, figure) -> figure.row(peer));
        return whole.get()
                && figures.entrySet().stream()
                        .filter(entry -> entry.getKey().isHoldfast())
                        .allMatch(entry -> entry.getValue().kept(entry.getKey().bound()));
    }

    /** Whether all groups came to their end. */
    private static boolean run(
            Path folder, List<String> urls, int faults, long end, Map<LeaderPeer, LeaderFigures> figures) {
        List<Thread> groups = new ArrayList<>();
        AtomicBoolean whole = new AtomicBoolean(true);
        for (int i = 0; i < GROUPS; i++) {
            LeaderGroup group = new LeaderGroup(
                    folder, "group" + i, urls, (faults + GROUPS - 1) / GROUPS, RESIGNS / GROUPS, end, figures);
            Thread thread = new Thread(group, "group-" + i);
            thread.setUncaughtExceptionHandler((failed, why) -> {
                System.err.println(failed.getName() + " ended early: " + why);
                whole.set(false);
            });
            groups.add(thread);
            thread.start();
        }
        for (Thread group : groups) {
            try {
                group.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
        return whole.get();
    }

    private static void createTable(String url) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute(SPRING_TABLE);
        }
    }
}
