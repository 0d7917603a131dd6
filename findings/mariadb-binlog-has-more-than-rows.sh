#!/usr/bin/env bash
# MariaDB 10.11 (Debian's mariadb-server-core 1:10.11.19), MariaDB Connector/J 3.5.11, binary log on: what an UPDATE puts into the
# binary log besides its rows, with default settings.
#
# A good guess: an UPDATE that changes no row is not in the binary log, as it is not in InnoDB's; one that changes a row is there
# as that row (this server says binlog_format=MIXED, and ROW is smaller still).
# Seen, with MIXED: an UPDATE whose WHERE finds no row writes 0 bytes of redo and forces nothing, but is logged as text, about 250
# bytes each time, and every replica executes it. With ROW, nothing. And an UPDATE that changes a row and is logged by row carries
# its whole text beside the row, since binlog_annotate_row_events is ON by default; OFF, the text is not there.
# Why a locker cares: a try for a lock that is taken is an UPDATE that finds no row. 50 waiters that ask each 100 ms write a
# gigabyte a day that says nothing. And long statements, as locks have them, fill the log with text that no replica needs.
# Fails if the behaviour changes. Needs Java 17, Maven, and MariaDB 10.11 installed.
set -euo pipefail
home=$(mktemp -d)
trap '[ -f "$home/pid" ] && kill "$(cat "$home/pid")" 2>/dev/null; sleep 1; rm -rf "$home"' EXIT
mariadbd --version | grep -q "Ver 10\.11\." || { echo "needs MariaDB 10.11: apt-get install mariadb-server-core mariadb-client-core"; exit 1; }
mvn -B -q org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact=org.mariadb.jdbc:mariadb-java-client:3.5.11 -DoutputDirectory="$home"
user=(); [ "$(id -u)" = 0 ] && user=(--user=root)
mariadb-install-db --no-defaults "${user[@]}" --datadir="$home/data" --auth-root-authentication-method=normal --skip-test-db >"$home/install.log" 2>&1
port=$((20000 + RANDOM % 10000))
mariadbd --no-defaults "${user[@]}" --datadir="$home/data" --port="$port" --bind-address=127.0.0.1 --socket="$home/socket" \
    --pid-file="$home/server.pid" --skip-name-resolve --log-bin=binlog --server-id=1 >"$home/server.log" 2>&1 &
echo $! >"$home/pid"
until grep -q "ready for connections" "$home/server.log"; do sleep 0.2; done
cat >"$home/Binlog.java" <<'JAVA'
import java.sql.*;

public class Binlog {
    static final int TIMES = 100;
    static Statement s;

    static long status(String name) throws SQLException {
        try (ResultSet row = s.executeQuery("SHOW GLOBAL STATUS LIKE '" + name + "'")) {
            row.next();
            return row.getLong(2);
        }
    }

    static void update(String way, String where) throws SQLException {
        long log = status("Binlog_bytes_written"), forced = status("Innodb_data_fsyncs");
        for (int i = 0; i < TIMES; i++) {
            s.executeUpdate("UPDATE locks SET owner = 'me', expires = UTC_TIMESTAMP(6) + INTERVAL 30 SECOND WHERE name = 'a' AND " + where);
        }
        System.out.printf("%s: %d bytes of binary log, %.0f forced writes%n", way, (status("Binlog_bytes_written") - log) / TIMES,
                (double) (status("Innodb_data_fsyncs") - forced) / TIMES);
    }

    public static void main(String[] args) throws Exception {
        try (Connection c = DriverManager.getConnection(args[0])) {
            s = c.createStatement();
            s.execute("CREATE DATABASE d");
            s.execute("USE d");
            s.execute("CREATE TABLE locks (name VARCHAR(50) PRIMARY KEY, owner CHAR(36), expires DATETIME(6))");
            s.execute("INSERT INTO locks VALUES ('a', 'somebody', '2000-01-01')");
            update("MIXED, no row", "owner = 'nobody'");
            s.execute("SET SESSION binlog_format = ROW");
            update("ROW, no row", "owner = 'nobody'");
            update("ROW, a row", "owner <> 'nobody'");
            s.execute("SET SESSION binlog_annotate_row_events = OFF");
            update("ROW, a row, no text", "owner <> 'nobody'");
        }
    }
}
JAVA
said=$(java -cp "$home/mariadb-java-client-3.5.11.jar" "$home/Binlog.java" "jdbc:mariadb://127.0.0.1:$port/?user=root" 2>/dev/null)
echo "$said"
number() { sed -n "s/^$1: \([0-9]*\) bytes.*/\1/p" <<<"$said"; }
grep -qE "^MIXED, no row: [1-9][0-9]{2} bytes of binary log, 0 forced" <<<"$said" && grep -q "^ROW, no row: 0 bytes of binary log, 0 forced" <<<"$said" &&
    [ "$(number 'ROW, a row, no text')" -lt "$(number 'ROW, a row')" ] || { echo "the behaviour has changed"; exit 1; }
