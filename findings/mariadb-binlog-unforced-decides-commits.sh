#!/usr/bin/env bash
# MariaDB 10.11 (Debian's mariadb-server-core 1:10.11.19), MariaDB Connector/J 3.5.11, innodb_flush_log_at_trx_commit=1: with the
# binary log on and sync_binlog at its default of 0, a commit that was answered is decided by a file that nobody has forced to disk.
#
# A good guess: innodb_flush_log_at_trx_commit=1 forces each commit, so a committed row survives a loss of power; sync_binlog is about
# replicas.
# Seen: with the binary log, what is forced before the answer is only the prepared transaction; the commit's own record may follow
# later, and after a crash the server looks into the binary log for what to commit. Cut off from that file what was never forced, as
# a loss of power may, and the answered row is rolled back at the start. Without the binary log, the row survives
# the same kill. (sync_binlog=1 forces the binary log too, one more forced write a commit.)
# Why a locker cares: switching replication on turned a durable grant into one that a power cut forgets, and the next client is granted
# the same lock, with the same fencing number.
# Fails if the behaviour changes. Needs Java 17, Maven, and MariaDB 10.11 installed.
set -euo pipefail
home=$(mktemp -d)
trap '[ -f "$home/pid" ] && kill "$(cat "$home/pid")" 2>/dev/null; sleep 1; rm -rf "$home"' EXIT
mariadbd --version | grep -q "Ver 10\.11\." || { echo "needs MariaDB 10.11: apt-get install mariadb-server-core mariadb-client-core"; exit 1; }
mvn -B -q org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact=org.mariadb.jdbc:mariadb-java-client:3.5.11 -DoutputDirectory="$home"
user=(); [ "$(id -u)" = 0 ] && user=(--user=root)
mariadb-install-db --no-defaults "${user[@]}" --datadir="$home/data" --auth-root-authentication-method=normal --skip-test-db >"$home/install.log" 2>&1
port=$((20000 + RANDOM % 10000))
start() { # OPTIONS...
    : >"$home/server.log"
    mariadbd --no-defaults "${user[@]}" --datadir="$home/$copy" --port="$port" --bind-address=127.0.0.1 --socket="$home/socket" \
        --pid-file="$home/server.pid" --skip-name-resolve --server-id=1 "$@" >"$home/server.log" 2>&1 &
    echo $! >"$home/pid"
    until grep -q "ready for connections" "$home/server.log"; do sleep 0.2; done
}
stopped() { kill -9 "$(cat "$home/pid")"; wait "$(cat "$home/pid")" 2>/dev/null || true; }
cat >"$home/Sql.java" <<'JAVA'
import java.sql.*;

/** URL PID STATEMENTS...: prints the number that one answers; kills the server when the last is answered, if there is a PID. */
public class Sql {
    public static void main(String[] args) throws Exception {
        try (Connection c = DriverManager.getConnection(args[0]); Statement s = c.createStatement()) {
            ProcessHandle server = args[1].isEmpty() ? null : ProcessHandle.of(Long.parseLong(args[1])).orElseThrow();
            for (int i = 2; i < args.length; i++) {
                if (s.execute(args[i])) {
                    try (ResultSet row = s.getResultSet()) {
                        row.next();
                        System.out.println(row.getString(1));
                    }
                }
            }
            if (server != null) {
                server.destroyForcibly();
                System.exit(0);
            }
        }
    }
}
JAVA
javac -d "$home" "$home/Sql.java"
sql() { java -cp "$home:$home/mariadb-java-client-3.5.11.jar" Sql "jdbc:mariadb://127.0.0.1:$port/?user=root" "$@" 2>/dev/null; }
rows() { # OPTIONS...: of a row whose INSERT was answered, after a kill; the binary log loses what was not forced
    start "$@"
    sql "" "CREATE DATABASE d" "CREATE TABLE d.locks (name VARCHAR(50) PRIMARY KEY) ENGINE=InnoDB" >/dev/null
    forced=$(stat -c %s "$home/$copy/binlog.000001" 2>/dev/null || echo 0) # what a test may call old enough to be on disk
    sql "$(cat "$home/pid")" "INSERT INTO d.locks VALUES ('order')"
    wait "$(cat "$home/pid")" 2>/dev/null || true
    [ "$forced" = 0 ] || truncate -s "$forced" "$home/$copy/binlog.000001"
    start "$@"
    sql "" "SELECT COUNT(*) FROM d.locks"
    stopped
}
cp -r "$home/data" "$home/with"; cp -r "$home/data" "$home/without"
copy=with; with=$(rows --log-bin=binlog)
copy=without; without=$(rows)
echo "the answered row is there: with the binary log $with times, without it $without times"
[ "$with" = 0 ] && [ "$without" = 1 ] || { echo "the behaviour has changed"; exit 1; }
