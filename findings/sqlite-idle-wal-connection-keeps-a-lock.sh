#!/usr/bin/env bash
# SQLite 3.54.1 (sqlite-jdbc 3.54.1.0): a connection in WAL mode that does nothing keeps a shared lock on the database file, from
# its first statement until it closes. In DELETE mode an idle connection keeps none.
#
# A good guess: WAL needs fewer locks than a rollback journal, and a connection between two transactions has none at all.
# Seen: /proc/locks has a READ lock of the idle process on the file's SHARED bytes (1073741826 on) in WAL mode, none in DELETE mode; so
# PRAGMA journal_mode = DELETE in another process answers "database is locked" while the idle one is connected.
# Why a locker cares: POSIX locks belong to the process and are gone when it closes ANY descriptor of the file, so a program
# that also reads that file by itself (a backup, a health check, a checksum) takes away the lock that says "somebody is
# connected"; the next to close then resets a log that is in use. And no journal mode can be changed while a client is idle.
# Fails if the behaviour changes. Needs Java 17, Maven, Linux.
set -euo pipefail
home=$(mktemp -d)
trap '[ -f "$home/pid" ] && kill "$(cat "$home/pid")" 2>/dev/null; rm -rf "$home"' EXIT
fetch() { mvn -B -q org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact="$1" -DoutputDirectory="$home"; }
fetch org.xerial:sqlite-jdbc:3.54.1.0
fetch org.slf4j:slf4j-api:2.0.17
cat >"$home/Idle.java" <<'JAVA'
import java.sql.*;

/** FILE MODE: writes once, says so, and is idle; with a third word, only asks for the mode and says what it got. */
public class Idle {
    public static void main(String[] args) throws Exception {
        try (Connection c = DriverManager.getConnection("jdbc:sqlite:" + args[0]); Statement s = c.createStatement()) {
            try {
                s.execute("PRAGMA busy_timeout = 100");
                s.execute("PRAGMA journal_mode = " + args[1]);
            } catch (SQLException e) {
                System.out.println(e.getMessage());
                return;
            }
            if (args.length > 2) {
                System.out.println("changed");
                return;
            }
            s.execute("CREATE TABLE IF NOT EXISTS lock (name TEXT PRIMARY KEY)");
            s.execute("INSERT INTO lock VALUES ('a')");
            System.out.println("idle");
            Thread.sleep(Long.MAX_VALUE);
        }
    }
}
JAVA
javac -d "$home" "$home/Idle.java"
said=$(for mode in WAL DELETE; do
    java -cp "$home:$home/*" Idle "$home/$mode.db" "$mode" >"$home/said" 2>/dev/null &
    echo $! >"$home/pid"
    until grep -q idle "$home/said"; do sleep 0.1; done
    inode=$(stat -c %i "$home/$mode.db")
    other=DELETE; [ "$mode" = DELETE ] && other=WAL
    echo "$mode: $(grep -cE "POSIX +ADVISORY +READ +$(cat "$home/pid") .*:$inode 107374182[0-9]" /proc/locks || true) locks while idle;" \
        "$other asked for beside it: $(java -cp "$home:$home/*" Idle "$home/$mode.db" "$other" ask 2>/dev/null)"
    kill "$(cat "$home/pid")"; wait "$(cat "$home/pid")" 2>/dev/null || true
done)
echo "$said"
grep -q "^WAL: 1 locks .*database is locked" <<<"$said" && grep -q "^DELETE: 0 locks .*: changed" <<<"$said" || { echo "the behaviour has changed"; exit 1; }
