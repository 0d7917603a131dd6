#!/usr/bin/env bash
# SQLite 3.54.1 (sqlite-jdbc 3.54.1.0), WAL, synchronous=NORMAL, two processes that write one file: every commit is visible
# to the other at once, but the one that brings the log to 1,000 pages (wal_autocheckpoint) returns only after it has written
# the log back, with two fsyncs.
#
# A good guess: a checkpoint slows both writers alike, or whoever comes next.
# Seen: during one COMMIT of A, B committed 6,999 times (8 to 440 ms, as long as the disk takes); with wal_autocheckpoint=0,
# 210 times at most, when A's process was not running.
# Why a locker cares: if that commit was a release, the other process has the lock again and again, and the one that
# released, whose turn comes after, cannot even ask. No order of arrival survives that.
# Fails if the behaviour changes. Needs Java 17, Maven, and a temp folder on a disk (in memory, fsync costs nothing).
set -euo pipefail
home=$(mktemp -d)
trap '[ -f "$home/pid" ] && kill "$(cat "$home/pid")" 2>/dev/null; rm -rf "$home"' EXIT
fetch() { mvn -B -q org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact="$1" -DoutputDirectory="$home"; }
fetch org.xerial:sqlite-jdbc:3.54.1.0
fetch org.slf4j:slf4j-api:2.0.17
cat >"$home/Writer.java" <<'JAVA'
import java.io.RandomAccessFile;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel.MapMode;
import java.sql.*;

/** FILE PAGES COUNTER: writes for ever and counts its commits; with "measure" behind that, says how many it saw of the other. */
public class Writer {
    public static void main(String[] args) throws Exception {
        try (Connection c = DriverManager.getConnection("jdbc:sqlite:" + args[0]);
                Statement s = c.createStatement();
                RandomAccessFile file = new RandomAccessFile(args[2], "rw")) {
            MappedByteBuffer counter = file.getChannel().map(MapMode.READ_WRITE, 0, 8);
            s.execute("PRAGMA journal_mode = WAL");
            s.execute("PRAGMA synchronous = NORMAL");
            s.execute("PRAGMA busy_timeout = 10000");
            s.execute("PRAGMA wal_autocheckpoint = " + args[1]);
            s.execute("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, n INTEGER)");
            s.execute("INSERT OR IGNORE INTO t VALUES (1, 0)");
            boolean measures = args.length > 3;
            long most = 0;
            for (int i = 0; !measures || i < 4_000; i++) {
                s.execute("BEGIN IMMEDIATE"); // from here on the other cannot write
                s.execute("UPDATE t SET n = n + 1");
                long before = counter.getLong(0);
                s.execute("COMMIT");
                most = Math.max(most, counter.getLong(0) - before);
                if (!measures) {
                    counter.putLong(0, counter.getLong(0) + 1);
                }
            }
            System.out.println(most);
        }
    }
}
JAVA
measure() { # PAGES: the other never writes the log back
    java -cp "$home/*" "$home/Writer.java" "$home/$1.db" 0 "$home/$1.count" &
    echo $! >"$home/pid"
    until [ -s "$home/$1.count" ]; do sleep 0.1; done
    java -cp "$home/*" "$home/Writer.java" "$home/$1.db" "$1" "$home/$1.count" measure
    kill "$(cat "$home/pid")"; wait "$(cat "$home/pid")" 2>/dev/null || true
}
with=$(measure 1000)
without=$(measure 0)
echo "commits of the other during one COMMIT: at most $with with wal_autocheckpoint=1000, $without with 0"
[ "$with" -ge 10 ] && [ "$with" -ge $((5 * without)) ] || { echo "the behaviour has changed"; exit 1; }
