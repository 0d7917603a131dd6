#!/usr/bin/env bash
# SQLite 3.54.1 (sqlite-jdbc 3.54.1.0), synchronous=FULL: the forced writes of one UPDATE that commits, by journal mode: DELETE
# 4, TRUNCATE 5, PERSIST 5, MEMORY 1, WAL 1.
#
# A good guess: TRUNCATE and PERSIST are there to save the work of deleting the journal, so they force less than DELETE.
# Seen: they save the change of the directory and force the journal once more instead, after its end was cut off or its head
# overwritten; only WAL forces once. Which journal is fastest depends on what a forced file costs beside a forced folder.
# Why a locker cares: an embedded lock is two such commits, and nothing else in it costs a tenth of one forced write: 8, 10 or
# 2 for each lock and unlock.
# Fails if the behaviour changes. Needs Java 17, Maven, strace, Linux.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
fetch() { mvn -B -q org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact="$1" -DoutputDirectory="$home"; }
fetch org.xerial:sqlite-jdbc:3.54.1.0
fetch org.slf4j:slf4j-api:2.0.17
cat >"$home/Commits.java" <<'JAVA'
import java.sql.*;

/** FILE MODE TIMES: so many commits. */
public class Commits {
    public static void main(String[] args) throws Exception {
        try (Connection c = DriverManager.getConnection("jdbc:sqlite:" + args[0]); Statement s = c.createStatement()) {
            s.execute("PRAGMA journal_mode = " + args[1]);
            s.execute("PRAGMA synchronous = FULL");
            s.execute("CREATE TABLE IF NOT EXISTS lock (name TEXT PRIMARY KEY, n INTEGER)");
            s.execute("INSERT OR REPLACE INTO lock VALUES ('a', 0)");
            for (int i = 0; i < Integer.parseInt(args[2]); i++) {
                s.executeUpdate("UPDATE lock SET n = n + 1");
            }
        }
    }
}
JAVA
javac -d "$home" "$home/Commits.java"
syncs() { # MODE TIMES
    strace -f -qq -e trace=fsync,fdatasync -o "$home/calls" java -cp "$home:$home/*" Commits "$home/$1.db" "$1" "$2" 2>/dev/null
    grep -cE "(fsync|fdatasync)\(" "$home/calls" || true
}
said=$(for mode in DELETE TRUNCATE PERSIST MEMORY WAL; do
    syncs "$mode" 0 >/dev/null # makes the file
    none=$(syncs "$mode" 0)
    echo "$mode $((($(syncs "$mode" 100) - none) / 100))"
done)
echo "$said"
[ "$(tr '\n' ' ' <<<"$said")" = "DELETE 4 TRUNCATE 5 PERSIST 5 MEMORY 1 WAL 1 " ] || { echo "the behaviour has changed"; exit 1; }
