#!/usr/bin/env bash
# Redis 7.0.15 (embedded-redis 0.9.1) with one replica and one Sentinel, all healthy: after SENTINEL FAILOVER, the command for
# a planned change of the master, the old master goes on as a master for some ten seconds beside the new one.
#
# A good guess: an operator's failover of a healthy master is handed over, as FAILOVER of Redis itself and CLUSTER FAILOVER
# do: the old master stops to write, the replica catches up, one master at a time.
# Seen: the Sentinel names the new master within two seconds. For ten more, SET NX of one key succeeds on both servers. Then
# the old master becomes a replica, and what it had granted meanwhile is gone.
# Why a locker cares: clients that are still connected to the old master get locks there that others get at the new one, and
# lose them without an error. With min-replicas-to-write 1 the old master refuses from the moment its only replica has left
# it: seen here as well.
# Fails if the behaviour changes. Needs Java 17 (for jar), Maven.
set -euo pipefail
home=$(mktemp -d)
trap 'for p in "$home"/pid*; do kill "$(cat "$p")" 2>/dev/null; done; sleep 0.5; rm -rf "$home"' EXIT
mvn -B -q org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact=org.signal:embedded-redis:0.9.1 -DoutputDirectory="$home"
(cd "$home" && jar xf embedded-redis-0.9.1.jar)
case $(uname -m) in x86_64) arch=amd64 ;; *) arch=arm64 ;; esac
server=$(find "$home" -name "redis-server*linux-$arch" | head -1); chmod +x "$server"
start() { # NAME PORT OPTIONS...
    mkdir -p "$home/$1"
    "$server" "${@:3}" >"$home/$1.log" 2>&1 &
    echo $! >"$home/pid$1"
    until (exec 4<>"/dev/tcp/127.0.0.1/$2") 2>/dev/null; do sleep 0.1; done
}
ask() { # PORT LINE COMMAND: that line of the reply
    exec 3<>"/dev/tcp/127.0.0.1/$1"
    printf '%s\r\n' "$3" >&3
    for _ in $(seq "$2"); do IFS= read -r reply <&3; done
    printf '%s\n' "${reply%$'\r'}"
}
role() { ask "$1" 3 ROLE; }
named() { ask "$1" 5 "SENTINEL GET-MASTER-ADDR-BY-NAME locks"; }
taken() { ask "$1" 1 "SET lock:$3 $2 NX PX 60000"; }

pair() { # NAME PORT OPTION VALUE: a master, its replica and a Sentinel that knows both
    local old=$2 new=$(($2 + 1)) sentinel=$(($2 + 2))
    start "$1-old" "$old" --port "$old" --bind 127.0.0.1 --dir "$home" --save "" --repl-diskless-sync-delay 0 "${@:3}"
    start "$1-new" "$new" --port "$new" --bind 127.0.0.1 --dir "$home" --save "" --repl-diskless-sync-delay 0 --replicaof 127.0.0.1 "$old"
    until [ "$(ask "$old" 1 "WAIT 1 100")" = ":1" ]; do sleep 0.1; done
    printf 'port %s\nbind 127.0.0.1\ndir %s\nsentinel monitor locks 127.0.0.1 %s 1\n' "$sentinel" "$home" "$old" >"$home/$1.conf"
    start "$1-sentinel" "$sentinel" "$home/$1.conf" --sentinel
    until [ "$(ask "$sentinel" 1 "SENTINEL FAILOVER locks")" = "+OK" ]; do sleep 0.5; done
    until [ "$(named "$sentinel")" = "$new" ] && [ "$(role "$new")" = master ]; do sleep 0.1; done
}
port=$((20000 + RANDOM % 10000))

pair plain "$port"
begun=$(date +%s%N) both=0
while [ "$(role "$port")" = master ]; do
    [ "$(taken "$port" old "$both")" = "+OK" ] && [ "$(taken $((port + 1)) new "$both")" = "+OK" ] && both=$((both + 1))
    sleep 0.5
done
millis=$((($(date +%s%N) - begun) / 1000000))
echo "two masters for $millis ms; $both keys were taken on both"

guarded=$((port + 10))
pair guarded "$guarded" --min-replicas-to-write 1
refused=$(taken "$guarded" old 0)
echo "with min-replicas-to-write 1 the old master, still a $(role "$guarded"), answers: $refused"

[ "$millis" -ge 5000 ] && [ "$millis" -le 30000 ] && [ "$both" -ge 5 ] && [[ $refused == -NOREPLICAS* ]] ||
    { echo "the behaviour has changed"; exit 1; }
