#!/usr/bin/env bash
# etcd 3.4.23 (Debian's etcd-server 3.4.23-4+b4), its lock service (v3lock, what `etcdctl lock` and jetcd's Lock client call): a
# waiter whose lease was revoked while it waited is told that it has the lock.
#
# A good guess: a Lock request answers with a key that exists and belongs to the caller's lease, or with an error.
# Seen: the lease goes, and with it the waiter's key; the request waits on for the key before it, finds nobody before itself
# when that one goes, and answers with success and the name of a key that does not exist. Another client gets the
# same lock at once: two of them were told yes.
# Why a locker cares: a waiter that was stopped for longer than its lease, or whose keep-alive failed, goes on as the holder. Read
# the key after the answer, in a transaction with what it guards, or use transactions in place of this service.
# Fails if the behaviour changes. Needs Debian's apt-get and dpkg, curl, Linux.
set -euo pipefail
home=$(mktemp -d)
chmod 755 "$home"
trap '[ -f "$home/pid" ] && kill "$(cat "$home/pid")" 2>/dev/null; sleep 0.5; rm -rf "$home"' EXIT
(cd "$home" && apt-get -qq download etcd-server=3.4.23-4+b4 2>/dev/null && dpkg -x etcd-server_*.deb .)
port=$((20000 + RANDOM % 10000))
"$home/usr/bin/etcd" --data-dir "$home/data" --listen-client-urls "http://127.0.0.1:$port" \
    --advertise-client-urls "http://127.0.0.1:$port" --listen-peer-urls "http://127.0.0.1:$((port + 1))" >"$home/log" 2>&1 &
echo $! >"$home/pid"
v3() { curl -sS -m 20 "http://127.0.0.1:$port/v3/$1" -d "$2"; }
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
until v3 maintenance/status '{}' 2>/dev/null | grep -q raftIndex; do sleep 0.2; done
lease() { v3 lease/grant '{"TTL":60}' | field ID; }
name=$(printf order | base64)
first=$(lease) second=$(lease) third=$(lease)
held=$(v3 lock/lock "{\"name\":\"$name\",\"lease\":$first}" | field key)
v3 lock/lock "{\"name\":\"$name\",\"lease\":$second}" >"$home/second" &
waiter=$!
until [ "$(v3 kv/range "{\"key\":\"$name\",\"range_end\":\"$(printf orderz | base64)\",\"count_only\":true}" | field count)" = 2 ]; do sleep 0.1; done
v3 lease/revoke "{\"ID\":$second}" >/dev/null
v3 lock/unlock "{\"key\":\"$held\"}" >/dev/null
wait "$waiter"
granted=$(field key <"$home/second")
echo "the second, whose lease is revoked, is granted: $(base64 -d <<<"$granted")"
exists=$(v3 kv/range "{\"key\":\"$granted\"}" | field count)
echo "keys of that name: ${exists:-0}"
other=$(v3 lock/lock "{\"name\":\"$name\",\"lease\":$third}" | field key)
echo "the third is granted meanwhile: $(base64 -d <<<"$other")"
[ -n "$granted" ] && [ -z "$exists" ] && [ -n "$other" ] && [ "$other" != "$granted" ] || { echo "the behaviour has changed"; exit 1; }
