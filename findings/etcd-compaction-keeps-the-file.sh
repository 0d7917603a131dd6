#!/usr/bin/env bash
# etcd 3.4.23 (Debian's etcd-server 3.4.23-4+b4): a lock and unlock of its lock service adds two revisions for ever, and compaction
# removes them without making the file smaller; only defragment does, and blocks the server meanwhile.
#
# A good guess: a lock that is released leaves nothing, and the automatic compaction, which everybody sets, gives the room back.
# Seen: 5,000 cycles on one name: 10,000 revisions and a database file of 0.8 MB (164 bytes a cycle) with no key in it; after compaction the file is as
# long, and its used part small; after defragment it is small again. Until then the file only grows to the most
# that lay between two compactions, and counts against --quota-backend-bytes (2 GB), above which every write is refused.
# Why a locker cares: 200 locks a second between compactions an hour apart are 1.4 million revisions, and the quota counts the file's length,
# not what is in it: a release is refused as well.
# Fails if the behaviour changes. Needs Debian's apt-get and dpkg, curl, Linux.
set -euo pipefail
home=$(mktemp -d)
chmod 755 "$home"
trap '[ -f "$home/pid" ] && kill "$(cat "$home/pid")" 2>/dev/null; sleep 0.5; rm -rf "$home"' EXIT
(cd "$home" && apt-get -qq download etcd-server=3.4.23-4+b4 2>/dev/null && dpkg -x etcd-server_*.deb .)
port=$((20000 + RANDOM % 10000))
"$home/usr/bin/etcd" --data-dir "$home/data" --unsafe-no-fsync --listen-client-urls "http://127.0.0.1:$port" \
    --advertise-client-urls "http://127.0.0.1:$port" --listen-peer-urls "http://127.0.0.1:$((port + 1))" >"$home/log" 2>&1 &
echo $! >"$home/pid"
url="http://127.0.0.1:$port/v3"
v3() { curl -sS -m 60 "$url/$1" -d "$2"; }
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
until v3 maintenance/status '{}' 2>/dev/null | grep -q raftIndex; do sleep 0.2; done
lease=$(v3 lease/grant '{"TTL":3600}' | field ID)
name=$(printf order | base64)
key=$(v3 lock/lock "{\"name\":\"$name\",\"lease\":$lease}" | field key)
v3 lock/unlock "{\"key\":\"$key\"}" >/dev/null
revision() { v3 kv/range '{"key":"YQ=="}' | field revision; }
sizes() { v3 maintenance/status '{}' | sed -n 's/.*"dbSize":"\([0-9]*\)".*"dbSizeInUse":"\([0-9]*\)".*/\1 \2/p'; }
before=$(revision)
cycles=5000
for _ in $(seq $cycles); do # one curl process for all of them
    printf 'next\nurl="%s/lock/lock"\ndata="{\\"name\\":\\"%s\\",\\"lease\\":%s}"\noutput="/dev/null"\n' "$url" "$name" "$lease"
    printf 'next\nurl="%s/lock/unlock"\ndata="{\\"key\\":\\"%s\\"}"\noutput="/dev/null"\n' "$url" "$key"
done >"$home/cycles"
curl -sS -K "$home/cycles"
after=$(revision)
sleep 1
full=$(sizes)
v3 kv/compaction "{\"revision\":$after,\"physical\":true}" >/dev/null
compacted=$(sizes)
v3 maintenance/defragment '{}' >/dev/null
defragmented=$(sizes)
echo "revisions for each cycle: $(((after - before) / cycles))"
echo "length and used part of the file: $full; after compaction $compacted; after defragment $defragmented"
[ $(((after - before) / cycles)) = 2 ] && [ "${compacted% *}" -ge "${full% *}" ] &&
    [ "${compacted#* }" -lt $((${full#* } / 2)) ] && [ "${defragmented% *}" -lt $((${full% *} / 2)) ] || { echo "the behaviour has changed"; exit 1; }
