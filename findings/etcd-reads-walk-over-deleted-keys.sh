#!/usr/bin/env bash
# etcd 3.4.23 (Debian's etcd-server 3.4.23-4+b4): a read of a range takes time for every key that was ever in it, deleted or not, until
# the history is compacted, which by default it never is. One key that is made and deleted as often costs nothing.
#
# A good guess: a lock's queue is empty when nobody waits, and so a read of it costs the same after a million locks as after the first.
# Seen: of a range in which 50,000 keys were made and deleted again, the answer "none" takes 7 ms instead of 0.6, and it is the
# processor's time, on every member that carries out a transaction with such a read. After compaction it takes 0.6 ms again.
# Why a locker cares: the textbook's queue has a key of a random name for each claim, under the name of the lock, and each claim reads
# the range. So a lock becomes slower with each turn. Make the same few keys again, as etcd's own lock does: there a lease has one.
# Fails if the behaviour changes. Needs Debian's apt-get and dpkg, curl, Python 3, Linux.
set -euo pipefail
home=$(mktemp -d)
chmod 755 "$home"
trap '[ -f "$home/pid" ] && kill "$(cat "$home/pid")" 2>/dev/null; sleep 0.5; rm -rf "$home"' EXIT
(cd "$home" && apt-get -qq download etcd-server=3.4.23-4+b4 2>/dev/null && dpkg -x etcd-server_*.deb .)
port=$((20000 + RANDOM % 10000))
"$home/usr/bin/etcd" --data-dir "$home/data" --unsafe-no-fsync --listen-client-urls "http://127.0.0.1:$port" \
    --advertise-client-urls "http://127.0.0.1:$port" --listen-peer-urls "http://127.0.0.1:$((port + 1))" >"$home/log" 2>&1 &
echo $! >"$home/pid"
until curl -sS -m 2 "http://127.0.0.1:$port/v3/maintenance/status" -d '{}' 2>/dev/null | grep -q raftIndex; do sleep 0.2; done
cat >"$home/reads.py" <<'PYTHON'
import base64, http.client, json, sys, time

KEYS, AT_A_TIME, AGAIN = 50_000, 100, 5_000
server = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))

def text(of):
    return base64.b64encode(of.encode()).decode()

def ask(what, body):
    server.request("POST", "/v3/" + what, json.dumps(body))
    return json.loads(server.getresponse().read())

def read(queue):
    """Milliseconds of a read that finds nothing, in the middle of many."""
    times = []
    for _ in range(51):
        begun = time.monotonic()
        found = ask("kv/range", {"key": text(queue), "range_end": text(queue[:-1] + "0")})
        times.append(1000 * (time.monotonic() - begun))
        assert "kvs" not in found
    return sorted(times)[25]

def turn(keys):
    """Makes keys, and deletes them again."""
    for kind in "put", "delete_range":
        ask("kv/txn", {"success": [{"request_" + kind: {"key": text(key)}} for key in keys]})

before = read("many/")
for first in range(0, KEYS, AT_A_TIME):
    turn([f"many/{i:x}" for i in range(first, first + AT_A_TIME)])
for _ in range(AGAIN):
    turn(["one/same"])
many, one = read("many/"), read("one/")
ask("kv/compaction", {"revision": int(ask("kv/range", {"key": text("a")})["header"]["revision"]), "physical": True})
compacted = read("many/")
print(f"an empty range is read in {before:.1f} ms; after {KEYS:,} keys in {many:.1f} ms, after one key {AGAIN:,} times in"
      f" {one:.1f} ms; after compaction in {compacted:.1f} ms")
sys.exit(0 if many > 4 * max(before, one, compacted) else "the behaviour has changed")
PYTHON
python3 "$home/reads.py" "$port"
