#!/usr/bin/env bash
# Memcached 1.6.18 (Debian package, as installed; no download).
# A good guess: an item stored with a life of n seconds lives for more than n - 1, as the server's clock counts whole seconds.
# Seen: each tick of that clock is armed anew when the one before was handled, so that it comes some 0.5 ms later each time. Every
# quarter of an hour or so two ticks have a whole second between them: the clock skips it, and items stored in the seconds before
# live for a second less. Items of 4 s that were stored late in such a second lived 2.0 to 2.3 s.
# Why a locker cares: an item has to live two seconds longer than its lease.
# To see the skip soon, the server is stopped once, so that its tick comes at the end of a second; what is measured is stored later.
set -eu
command -v memcached > /dev/null || { echo "needs memcached on PATH" >&2; exit 2; }
command -v python3 > /dev/null || { echo "needs python3" >&2; exit 2; }
memcached -V
exec python3 - <<'PY'
import os, signal, socket, subprocess, time
probe = socket.socket(); probe.bind(("127.0.0.1", 0)); port = probe.getsockname()[1]; probe.close()
user = ["-u", "root"] if os.getuid() == 0 else []
server = subprocess.Popen(["memcached", "-l", "127.0.0.1", "-p", str(port), *user])
try:
    time.sleep(0.5)
    s = socket.create_connection(("127.0.0.1", port))
    def ask(line):
        s.sendall(line.encode())
        return s.recv(65536).decode()
    def uptime():
        return int(ask("stats\r\n").split("STAT uptime ")[1].split()[0])
    def tick():
        before = uptime()
        while uptime() == before:
            time.sleep(0.0005)
        return time.monotonic()
    shortest = 9.0
    for attempt in range(10):
        last = tick()
        os.kill(server.pid, signal.SIGSTOP)
        while time.monotonic() < last + 1 or time.monotonic() % 1 < 0.997:
            time.sleep(0.0001)
        os.kill(server.pid, signal.SIGCONT)
        tick()
        stored, before, skipped, end = {}, uptime(), False, time.monotonic() + 9
        while time.monotonic() < end + 4:
            name = f"item{attempt}-{time.monotonic_ns()}"
            if time.monotonic() < end:
                stored[name] = time.monotonic()
                ask(f"add {name} 0 4 1\r\nx\r\n")
            time.sleep(0.02)
            now = uptime()
            skipped |= now - before > 1
            before = now
            for each in [each for each in stored if "VALUE" not in ask(f"get {each}\r\n")]:
                shortest = min(shortest, time.monotonic() - stored.pop(each))
        print(f"the clock {'skipped' if skipped else 'did not skip'} a second; the shortest life of 4 s was {shortest:.2f} s")
        if skipped and shortest < 2.9:
            raise SystemExit(0)
    raise SystemExit("no longer seen: the finding is out of date")
finally:
    server.kill()
PY
