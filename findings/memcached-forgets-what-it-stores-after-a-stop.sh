#!/usr/bin/env bash
# Memcached 1.6.18 (Debian package, as installed; no download).
# A good guess: an item stored with a life of four seconds lives three to four seconds.
# Seen: a server that was suspended for six seconds and goes on stores an item by the time at which it stood still, so that
# its first tick ends the item: 7 of 10 were gone within 0.3 s.
# Why a locker cares: STORED does not say that the lock will be there for its lease; the next renewal does.
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
        return s.recv(4096)
    early = 0
    for i in range(10):
        ask("set warm 0 60 1\r\nx\r\n")
        os.kill(server.pid, signal.SIGSTOP)
        time.sleep(6)
        s.sendall(f"add item{i} 0 4 1\r\nx\r\n".encode())
        time.sleep(0.05)
        os.kill(server.pid, signal.SIGCONT)
        begun = time.time()
        assert s.recv(4096).startswith(b"STORED")
        while b"VALUE" in ask(f"get item{i}\r\n"):
            time.sleep(0.005)
        life = time.time() - begun
        early += life < 2
        print(f"stored for 4 s, lived {life:.2f} s")
    print(f"{early} of 10 were gone early")
    raise SystemExit(0 if early else "no longer seen: the finding is out of date")
finally:
    server.kill()
PY
