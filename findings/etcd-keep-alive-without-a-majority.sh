#!/usr/bin/env bash
# etcd 3.4.23 (Debian's etcd-server 3.4.23-4+b4), three members: a leader answers a keep-alive with the full time to live though no other
# member can hear it.
#
# A good guess: the answer to a keep-alive means that the cluster, so a majority, goes on keeping the lease.
# Seen: the leader alone counts the time of leases, in its memory, and answers a keep-alive from there. With both others stopped
# it answers as ever, while a read waits for them in vain. A leader that is cut off does so until it gives up after its
# election time-out, and one that was itself stopped answers what has waited before it hears of its successor, which counts
# each lease from its own election.
# Why a locker cares: a deadline that is moved by the answer of a keep-alive alone may lie behind the moment at which another member ends
# the lease. A read that is sent after that answer and agreed to in the same term (raft_term in both headers) proves it.
# Fails if the behaviour changes. Needs Debian's apt-get and dpkg, curl, Linux.
set -euo pipefail
home=$(mktemp -d)
chmod 755 "$home"
trap 'kill -9 $(cat "$home"/pid.* 2>/dev/null) 2>/dev/null; sleep 0.5; rm -rf "$home"' EXIT
(cd "$home" && apt-get -qq download etcd-server=3.4.23-4+b4 2>/dev/null && dpkg -x etcd-server_*.deb .)
base=$((20000 + RANDOM % 10000))
client() { echo "http://127.0.0.1:$((base + 2 * $1))"; }
peer() { echo "http://127.0.0.1:$((base + 2 * $1 + 1))"; }
for i in 0 1 2; do
    "$home/usr/bin/etcd" --name "m$i" --data-dir "$home/data$i" --listen-client-urls "$(client $i)" --advertise-client-urls "$(client $i)" \
        --listen-peer-urls "$(peer $i)" --initial-advertise-peer-urls "$(peer $i)" \
        --initial-cluster "m0=$(peer 0),m1=$(peer 1),m2=$(peer 2)" >"$home/log$i" 2>&1 &
    echo $! >"$home/pid.$i"
    disown
done
v3() { curl -sS -m "$1" "$(client "$2")/v3/$3" -d "$4"; }
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
for i in 0 1 2; do
    until v3 2 $i kv/range '{"key":"YQ=="}' 2>/dev/null | grep -q revision; do sleep 0.2; done
done
for i in 0 1 2; do
    status=$(v3 2 $i maintenance/status '{}')
    [ "$(field member_id <<<"$status")" = "$(field leader <<<"$status")" ] && leader=$i
done
lease=$(v3 2 "$leader" lease/grant '{"TTL":60}' | field ID)
sleep 3
for i in 0 1 2; do [ $i = "$leader" ] || kill -STOP "$(cat "$home/pid.$i")"; done
kept=$(v3 2 "$leader" lease/keepalive "{\"ID\":$lease}" | field TTL)
read=$(v3 3 "$leader" kv/range '{"key":"YQ=="}' 2>/dev/null | field revision || true)
echo "with both others stopped, the leader answers the keep-alive with a time to live of: ${kept:-nothing}"
echo "and the read that follows with the revision: ${read:-no answer within 3 s}"
[ "$kept" = 60 ] && [ -z "$read" ] || { echo "the behaviour has changed"; exit 1; }
