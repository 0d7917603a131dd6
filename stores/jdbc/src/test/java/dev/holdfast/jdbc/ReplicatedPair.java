package dev.holdfast.jdbc;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testbed.LocalServer;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.TcpProxy;
import java.sql.SQLException;
import java.time.Duration;

/** A primary and its replica, real ones, with a proxy between them that can hold the replication. */
abstract class ReplicatedPair implements AutoCloseable {
    private static final Duration SOON = Duration.ofSeconds(30);

    /** Of which database. */
    enum Kind {
        POSTGRES {
            @Override
            ReplicatedPair start() throws SQLException {
                return new Postgres();
            }

            @Override
            ServerDialect dialect() {
                return new PostgresDialect();
            }
        },
        MARIADB {
            @Override
            ReplicatedPair start() throws SQLException {
                return new MariaDb();
            }

            @Override
            ServerDialect dialect() {
                return new MariaDbDialect();
            }
        };

        abstract ReplicatedPair start() throws SQLException;

        abstract ServerDialect dialect();
    }

    abstract LocalServer primary();

    /** The proxy by which the replica reaches the primary. */
    abstract TcpProxy link();

    /** As an application does, whose rights a read-only server limits. */
    abstract String primaryUrl();

    abstract String replicaUrl();

    /** What the primary has written, as the replica can tell whether it has it. */
    abstract void awaitReplicated() throws SQLException;

    /** The primary takes no writes any more; connections stay open. */
    abstract void makePrimaryReadOnly() throws SQLException;

    /** The replica is the primary from now on. */
    abstract void promote() throws SQLException;

    /** The replica takes writes too, beside its primary. */
    void promoteBeside() throws SQLException {
        Sql.run(replicaUrl().replace("user=locks", "user=root"), "SET GLOBAL read_only = OFF");
    }

    /** What the primary writes from now on never reaches the replica. */
    void holdReplication() {
        link().toClient().hold();
    }

    /** The primary dies, and what replication held is lost. */
    void killPrimary() {
        link().toClient().awaitBite(SOON);
        primary().process().kill();
        link().close();
    }

    @Override
    public abstract void close();

    private static final class Postgres extends ReplicatedPair {
        private final PostgresServer primary = orSkip(() -> PostgresServer.start());
        private final TcpProxy link = TcpProxy.to(primary.port());
        private final PostgresServer replica;

        Postgres() throws SQLException {
            primary.process().terminate();
            primary.process().waitFor(SOON);
            replica = PostgresServer.replicaOf(primary, link.port());
            primary.process().restart();
            await().atMost(SOON)
                    .until(() -> Sql.text(primary.jdbcUrl(), "SELECT count(*) FROM pg_stat_replication")
                            .equals("1"));
        }

        @Override
        LocalServer primary() {
            return primary;
        }

        @Override
        TcpProxy link() {
            return link;
        }

        @Override
        String primaryUrl() {
            return primary.jdbcUrl();
        }

        @Override
        String replicaUrl() {
            return replica.jdbcUrl();
        }

        @Override
        void awaitReplicated() throws SQLException {
            String written = Sql.text(primary.jdbcUrl(), "SELECT pg_current_wal_lsn()");
            String query = "SELECT pg_last_wal_replay_lsn() >= '" + written + "'";
            await().atMost(SOON).until(() -> Sql.text(replica.jdbcUrl(), query).equals("t"));
        }

        @Override
        void makePrimaryReadOnly() throws SQLException {
            Sql.run(
                    primary.jdbcUrl(),
                    "ALTER SYSTEM SET default_transaction_read_only = on",
                    "SELECT pg_reload_conf()");
            await().atMost(SOON)
                    .until(() -> Sql.text(primary.jdbcUrl(), "SHOW transaction_read_only")
                            .equals("on"));
        }

        @Override
        void promote() throws SQLException {
            Sql.run(replica.jdbcUrl(), "SELECT pg_promote()");
        }

        @Override
        public void close() {
            link.close();
            replica.close();
            primary.close();
        }
    }

    private static final class MariaDb extends ReplicatedPair {
        private final MariaDbServer primary = orSkip(() -> MariaDbServer.start("--server-id=1", "--log-bin=changes"));
        private final TcpProxy link = TcpProxy.to(primary.port());
        private final MariaDbServer replica = MariaDbServer.start("--server-id=2", "--log-bin=changes", "--read-only");

        MariaDb() throws SQLException {
            Sql.run(
                    replica.jdbcUrl(),
                    "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=" + link.port()
                            + ", MASTER_USER='root', MASTER_USE_GTID=slave_pos",
                    "START SLAVE");
            Sql.run(
                    primary.jdbcUrl(),
                    "CREATE DATABASE guarded",
                    "CREATE USER locks@'127.0.0.1'",
                    "GRANT ALL ON guarded.* TO locks@'127.0.0.1'");
            awaitReplicated();
        }

        @Override
        LocalServer primary() {
            return primary;
        }

        @Override
        TcpProxy link() {
            return link;
        }

        @Override
        String primaryUrl() {
            return application(primary);
        }

        @Override
        String replicaUrl() {
            return application(replica);
        }

        private static String application(MariaDbServer server) {
            return server.jdbcUrl().replace("/test?", "/guarded?").replace("user=root", "user=locks");
        }

        @Override
        void awaitReplicated() throws SQLException {
            String written = Sql.text(primary.jdbcUrl(), "SELECT @@gtid_binlog_pos");
            String query = "SELECT MASTER_GTID_WAIT('" + written + "', " + SOON.toSeconds() + ")";
            if (!Sql.text(replica.jdbcUrl(), query).equals("0")) {
                throw new AssertionError("the replica has not got " + written + " within " + SOON);
            }
        }

        @Override
        void makePrimaryReadOnly() throws SQLException {
            Sql.run(primary.jdbcUrl(), "SET GLOBAL read_only = ON");
        }

        @Override
        void promote() throws SQLException {
            Sql.run(replica.jdbcUrl(), "STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL read_only = OFF");
        }

        @Override
        public void close() {
            link.close();
            replica.close();
            primary.close();
        }
    }
}
