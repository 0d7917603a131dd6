#!/usr/bin/env bash
# jetcd 0.8.7, etcd 3.4.23 (Debian's etcd-server 3.4.23-4+b4): a lock request whose caller has given up, and cancelled it, is sent when the
# server is back, and is granted.
#
# A good guess: after get(2, SECONDS) has timed out and cancel(true) has answered true, the lock is not requested any more.
# Seen: jetcd sends with gRPC's "wait for ready" and without a deadline, and cancelling its future does not cancel the call. The
# call waits in the client for as long as the server is away; then it is carried out. The key of the lock is there, under a
# lease that the program keeps alive, and no code of the program knows of it.
# Why a locker cares: nobody else gets the lock while that program runs, long after "the server is down, do without". Ask for a lock under
# a lease of its own and revoke it, or make what was asked for void by a later transaction that the late one must compare with.
# Fails if the behaviour changes. Needs Debian's apt-get and dpkg, Java 17, Maven, Linux.
set -euo pipefail
home=$(mktemp -d)
chmod 755 "$home"
trap 'rm -rf "$home"' EXIT
(cd "$home" && apt-get -qq download etcd-server=3.4.23-4+b4 2>/dev/null && dpkg -x etcd-server_*.deb .)
cat >"$home/pom.xml" <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>io.etcd</groupId><artifactId>jetcd-core</artifactId><version>0.8.7</version></dependency>
  </dependencies>
</project>
XML
mvn -B -q -f "$home/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory="$home/lib"
cat >"$home/GivenUp.java" <<'JAVA'
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.lock.LockResponse;
import io.etcd.jetcd.options.GetOption;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.*;

public class GivenUp {
    static String home;
    static int port;

    static Process etcd() throws Exception {
        String clients = "http://127.0.0.1:" + port;
        return new ProcessBuilder(home + "/usr/bin/etcd", "--data-dir", home + "/data", "--listen-client-urls", clients,
                "--advertise-client-urls", clients, "--listen-peer-urls", "http://127.0.0.1:" + (port + 1))
                .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.appendTo(new File(home + "/etcd.log"))).start();
    }

    static long keys(Client client, ByteSequence prefix) throws Exception {
        return client.getKVClient().get(prefix, GetOption.builder().isPrefix(true).build()).get(60, TimeUnit.SECONDS).getCount();
    }

    public static void main(String[] args) throws Exception {
        home = args[0];
        port = 20000 + ThreadLocalRandom.current().nextInt(10000);
        ByteSequence name = ByteSequence.from("order", StandardCharsets.UTF_8);
        Process server = etcd();
        try (Client client = Client.builder().endpoints("http://127.0.0.1:" + port).build()) {
            long lease = client.getLeaseClient().grant(120).get(60, TimeUnit.SECONDS).getID();
            server.destroyForcibly().waitFor();
            CompletableFuture<LockResponse> lock = client.getLockClient().lock(name, lease);
            try {
                lock.get(2, TimeUnit.SECONDS);
            } catch (TimeoutException down) {
                System.out.println("timed out; cancelled: " + lock.cancel(true));
            }
            server = etcd();
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            long keys = 0;
            while (keys == 0 && System.nanoTime() < end) {
                keys = keys(client, name);
                Thread.sleep(100);
            }
            System.out.println("keys of the lock when the server is back: " + keys);
            try (Client other = Client.builder().endpoints("http://127.0.0.1:" + port).build()) {
                long its = other.getLeaseClient().grant(120).get(60, TimeUnit.SECONDS).getID();
                try {
                    other.getLockClient().lock(name, its).get(3, TimeUnit.SECONDS);
                    System.out.println("another client: granted");
                } catch (TimeoutException taken) {
                    System.out.println("another client: waits");
                }
            }
        } finally {
            server.destroyForcibly();
        }
        System.exit(0);
    }
}
JAVA
said=$(java -cp "$home/lib/*" "$home/GivenUp.java" "$home" 2>"$home/log") || { tail "$home/log"; exit 1; }
echo "$said"
grep -q "cancelled: true" <<<"$said" && grep -q "back: 1" <<<"$said" && grep -q "client: waits" <<<"$said" ||
    { echo "the behaviour has changed"; exit 1; }
