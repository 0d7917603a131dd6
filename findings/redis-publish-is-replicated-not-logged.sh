#!/usr/bin/env bash
# Redis 7.0.15 (embedded-redis 0.9.1), append-only file and one replica: PUBLISH writes nothing to the file, and is sent to
# every replica, whether anybody listens or not; and each key that a script's second write touches adds MULTI and EXEC to both.
#
# A good guess: the file and the replication stream are the same commands, so their growth is the same; a message without
# subscribers goes nowhere; a script is one entry.
# Seen: 1,000 times PUBLISH with 100 bytes and no subscriber: 0 bytes in the file, over 130 bytes each to the replica. A
# script with one SET: that SET; a script with two: both, wrapped in MULTI and EXEC, 29 bytes more than the two alone.
# Why a locker cares: a lock that wakes its waiters by PUBLISH at each release (Redisson does, also when nobody waits) costs
# network to each replica and backlog that the size of the file does not show; and a file cannot tell whether it was sent.
# Fails if the behaviour changes. Needs Java 17 (for jar), Maven.
set -euo pipefail
home=$(mktemp -d)
trap 'for p in "$home"/pid*; do kill "$(cat "$p")" 2>/dev/null; done; sleep 0.5; rm -rf "$home"' EXIT
mvn -B -q org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact=org.signal:embedded-redis:0.9.1 -DoutputDirectory="$home"
(cd "$home" && jar xf embedded-redis-0.9.1.jar)
case $(uname -m) in x86_64) arch=amd64 ;; *) arch=arm64 ;; esac
server=$(find "$home" -name "redis-server*linux-$arch" | head -1); chmod +x "$server"
port=$((20000 + RANDOM % 10000))
start() { # NAME PORT OPTIONS...
    mkdir "$home/$1"
    "$server" --port "$2" --bind 127.0.0.1 --dir "$home/$1" --save "" "${@:3}" >"$home/$1.log" 2>&1 &
    echo $! >"$home/pid$1"
    until (exec 4<>"/dev/tcp/127.0.0.1/$2") 2>/dev/null; do sleep 0.1; done
}
start primary "$port" --appendonly yes --repl-ping-replica-period 3600 --repl-diskless-sync-delay 0
start replica $((port + 1)) --replicaof 127.0.0.1 "$port"
exec 3<>"/dev/tcp/127.0.0.1/$port"
ask() { # COMMAND: the reply of one line
    printf '%s\r\n' "$1" >&3
    IFS= read -r reply <&3
}
info() { # SECTION NAME
    printf 'INFO %s\r\n' "$1" >&3
    IFS= read -r reply <&3
    size=${reply#?}; size=${size%$'\r'}
    IFS= read -r -N $((size + 2)) reply <&3
    sed -n "s/^$2:\([^\r]*\).*/\1/p" <<<"$reply"
}
until [ -n "$(info replication slave0 | grep state=online)" ]; do sleep 0.1; done
bytes() { # TITLE COMMAND: what 1,000 of them add, each
    local file0 sent0
    ask "$2" # SELECT 0 goes before the first
    file0=$(info persistence aof_current_size) sent0=$(info replication master_repl_offset)
    for _ in $(seq 1000); do ask "$2"; done
    sleep 0.2
    echo "$1: $((($(info persistence aof_current_size) - file0) / 1000)) to the file, $((($(info replication master_repl_offset) - sent0) / 1000)) to the replica"
}
message=$(printf 'x%.0s' $(seq 100))
said=$(
    bytes "PUBLISH" "PUBLISH channel $message"
    bytes "SET" "SET a v"
    bytes "script with one SET" "EVAL \"return redis.call('set',KEYS[1],'v')\" 1 a"
    bytes "script with two" "EVAL \"redis.call('set',KEYS[1],'v') return redis.call('set',KEYS[2],'v')\" 2 a b"
)
echo "$said"
number() { sed -n "s/^$1: \([0-9]*\) to the file, \([0-9]*\) to the replica/\\$2/p" <<<"$said"; }
[ "$(number PUBLISH 1)" = 0 ] && [ "$(number PUBLISH 2)" -ge 130 ] && [ "$(number SET 1)" = "$(number SET 2)" ] &&
    [ "$(number 'script with one SET' 1)" = "$(number SET 1)" ] &&
    [ "$(number 'script with two' 1)" = $((2 * $(number SET 1) + 29)) ] || { echo "the behaviour has changed"; exit 1; }
