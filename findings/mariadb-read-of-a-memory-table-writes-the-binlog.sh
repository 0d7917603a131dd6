#!/usr/bin/env bash
# MariaDB 10.11 (Debian's mariadb-server-core 1:10.11.19), MariaDB Connector/J 3.5.11: after a restart, the first SELECT from a MEMORY
# table writes a change into the binary log, also on a read-only server and by a user who may only read.
#
# A good guess: a MEMORY table is empty after a restart, and that is the affair of this server alone; a server that is read_only,
# as a replica is, logs nothing of its own.
# Seen: the first use of the table after the restart, a plain SELECT by a user with SELECT alone, logs a statement that empties the table,
# under this server's own server_id and in a transaction of its own: a replica then has one that its primary never had (an
# "errant" one), and sends it to its own replicas.
# Why a locker cares: lock rows in a MEMORY table cost no flush, and look tempting; but any reader of the locks on a
# restarted replica, such as a dashboard, makes that replica diverge; after a failover, the other servers are emptied too.
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
    mariadbd --no-defaults "${user[@]}" --datadir="$home/data" --port="$port" --bind-address=127.0.0.1 --socket="$home/socket" \
        --pid-file="$home/server.pid" --server-id=7 --log-bin=binlog "$@" >"$home/server.log" 2>&1 &
    echo $! >"$home/pid"
    until grep -q "ready for connections" "$home/server.log"; do sleep 0.2; done
}
stopped() { kill "$(cat "$home/pid")"; wait "$(cat "$home/pid")" 2>/dev/null || true; }
cat >"$home/Sql.java" <<'JAVA'
import java.sql.*;

/** URL STATEMENTS...: prints the rows that they answer. */
public class Sql {
    public static void main(String[] args) throws Exception {
        try (Connection c = DriverManager.getConnection(args[0]); Statement s = c.createStatement()) {
            for (int i = 1; i < args.length; i++) {
                if (!s.execute(args[i])) continue;
                try (ResultSet row = s.getResultSet()) {
                    while (row.next()) {
                        StringBuilder line = new StringBuilder();
                        for (int n = 1; n <= row.getMetaData().getColumnCount(); n++) line.append(row.getString(n)).append(' ');
                        System.out.println(line);
                    }
                }
            }
        }
    }
}
JAVA
javac -d "$home" "$home/Sql.java"
sql() { # USER STATEMENTS...
    local who=$1; shift
    java -cp "$home:$home/mariadb-java-client-3.5.11.jar" Sql "jdbc:mariadb://127.0.0.1:$port/?user=$who" "$@"
}
start
sql root "CREATE DATABASE d" "CREATE TABLE d.locks (name VARCHAR(50) PRIMARY KEY) ENGINE=MEMORY" "INSERT INTO d.locks VALUES ('order')" \
    "CREATE USER reader@'%'" "GRANT SELECT ON d.* TO reader@'%'"
stopped
start --read-only=ON
changes() { sql root "SHOW BINLOG EVENTS IN 'binlog.000002'" | grep -ci "locks" || true; }
before=$(changes)
rows=$(sql reader "SELECT COUNT(*) FROM d.locks")
after=$(changes)
sql root "SHOW BINLOG EVENTS IN 'binlog.000002'" | grep -i "locks" || true
echo "rows read: $rows; changes of the table in the binary log of the read-only server: $before before the SELECT, $after after it"
[ "$rows" = "0 " ] && [ "$before" = 0 ] && [ "$after" = 1 ] || { echo "the behaviour has changed"; exit 1; }
