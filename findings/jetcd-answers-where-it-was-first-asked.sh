#!/usr/bin/env bash
# jetcd 0.8.7, etcd 3.4.23 (Debian's etcd-server 3.4.23-4+b4): a client that was first used on a worker thread of Vert.x gives all its
# answers there, so that nobody has any while that worker waits for a lock.
#
# A good guess: a client has threads of its own, and it does not matter which thread asks first; waiting is what workers are for.
# Seen: jetcd makes its stubs in the Vert.x context of the thread that asks first, whichever Vert.x made that. The context of a
# worker runs one task at a time: the worker that waits for an answer keeps it from coming. So does it for requests of all other
# threads, those without Vert.x too. A client that was first used elsewhere answers at once, on the same worker.
# Why a locker cares: the first lock() of an application times out, or all do, by which of its threads was there first; and keep-alives are
# answers too. Use a client once on a plain thread, before it is given to anybody.
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
cat >"$home/FirstAsked.java" <<'JAVA'
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.*;

public class FirstAsked {
    static final ByteSequence KEY = ByteSequence.from("order", StandardCharsets.UTF_8);
    static final Vertx vertx = Vertx.vertx();

    static String ask(Client client) {
        try {
            client.getKVClient().get(KEY).get(5, TimeUnit.SECONDS);
            return "answered";
        } catch (Exception e) {
            return e.getClass().getSimpleName();
        }
    }

    /** What a worker is answered, and what a plain thread is that asks meanwhile. */
    static String onWorker(Client client) throws Exception {
        CompletableFuture<String> said = new CompletableFuture<>();
        vertx.deployVerticle(context -> {
            CompletableFuture<String> other = new CompletableFuture<>();
            new Thread(() -> {
                try {
                    Thread.sleep(500); // the worker asks first
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                other.complete(ask(client));
            }).start();
            String own = ask(client);
            said.complete(own + ", another thread meanwhile: " + other.join());
            return Future.succeededFuture();
        }, new DeploymentOptions().setThreadingModel(ThreadingModel.WORKER));
        return said.get(60, TimeUnit.SECONDS);
    }

    public static void main(String[] args) throws Exception {
        int port = 20000 + ThreadLocalRandom.current().nextInt(10000);
        String clients = "http://127.0.0.1:" + port;
        Process server = new ProcessBuilder(args[0] + "/usr/bin/etcd", "--data-dir", args[0] + "/data", "--listen-client-urls",
                clients, "--advertise-client-urls", clients, "--listen-peer-urls", "http://127.0.0.1:" + (port + 1))
                .redirectErrorStream(true).redirectOutput(new File(args[0] + "/etcd.log")).start();
        try (Client warm = Client.builder().endpoints(clients).build();
                Client first = Client.builder().endpoints(clients).build()) {
            while (!ask(warm).equals("answered")) { // the server starts, and classes are loaded
                Thread.sleep(100);
            }
            System.out.println("a worker with a client that a plain thread used first: " + onWorker(warm));
            System.out.println("a worker that uses a client first: " + onWorker(first));
        } finally {
            server.destroyForcibly();
        }
        System.exit(0);
    }
}
JAVA
said=$(java -cp "$home/lib/*" "$home/FirstAsked.java" "$home" 2>"$home/log") || { tail "$home/log"; exit 1; }
echo "$said"
grep -q "used first: answered, another thread meanwhile: answered" <<<"$said" &&
    grep -q "uses a client first: TimeoutException, another thread meanwhile: TimeoutException" <<<"$said" ||
    { echo "the behaviour has changed"; exit 1; }
