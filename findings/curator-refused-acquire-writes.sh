#!/usr/bin/env bash
# Apache Curator 5.9.0, ZooKeeper 3.9.5: InterProcessMutex.acquire(0, MILLISECONDS) of a lock that another client holds writes as
# much as one that gets it.
#
# A good guess: a try that does not wait reads whether somebody holds the lock, and writes nothing when somebody does.
# Seen: it creates its node in the queue, reads the queue, sees that it is not the first, and deletes its node: two transactions,
# each logged and forced to disk on every server of a majority, the same two that a whole lock and unlock writes. With
# a contender that tries often, the log grows and snapshots come sooner while nobody gets anything.
# Why a locker cares: "try, and skip the run if it is taken" on 100 servers each second is 200 forced writes a second. Reading first (exists,
# or getChildren) costs a round trip and writes nothing.
# Fails if the behaviour changes. Needs Java 17 and Maven.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
cat >"$home/pom.xml" <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.curator</groupId><artifactId>curator-recipes</artifactId><version>5.9.0</version></dependency>
    <dependency><groupId>org.apache.zookeeper</groupId><artifactId>zookeeper</artifactId><version>3.9.5</version>
      <exclusions><exclusion><groupId>io.netty</groupId><artifactId>netty-transport-native-epoll</artifactId></exclusion></exclusions></dependency>
    <dependency><groupId>io.dropwizard.metrics</groupId><artifactId>metrics-core</artifactId><version>4.2.33</version></dependency>
    <dependency><groupId>org.xerial.snappy</groupId><artifactId>snappy-java</artifactId><version>1.1.10.8</version></dependency>
  </dependencies>
</project>
XML
mvn -B -q -f "$home/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory="$home/lib"
cat >"$home/Try.java" <<'JAVA'
import java.io.File;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.*;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.server.*;

public class Try {
    static final int TIMES = 200;

    public static void main(String[] args) throws Exception {
        ZooKeeperServer server = new ZooKeeperServer(new File(args[0]), new File(args[0]), 2000);
        ServerCnxnFactory connections = ServerCnxnFactory.createFactory(new InetSocketAddress("127.0.0.1", 0), 10);
        connections.startup(server);
        String url = "127.0.0.1:" + connections.getLocalPort();
        try (CuratorFramework one = CuratorFrameworkFactory.newClient(url, new RetryOneTime(1));
                CuratorFramework two = CuratorFrameworkFactory.newClient(url, new RetryOneTime(1))) {
            one.start();
            two.start();
            two.blockUntilConnected();
            InterProcessMutex lock = new InterProcessMutex(one, "/lock");
            InterProcessMutex other = new InterProcessMutex(two, "/lock");
            lock.acquire();
            lock.release();
            long zxid = server.getZKDatabase().getDataTreeLastProcessedZxid();
            for (int i = 0; i < TIMES; i++) {
                lock.acquire();
                lock.release();
            }
            System.out.println("granted: " + (server.getZKDatabase().getDataTreeLastProcessedZxid() - zxid) / TIMES + " transactions");
            lock.acquire();
            zxid = server.getZKDatabase().getDataTreeLastProcessedZxid();
            for (int i = 0; i < TIMES; i++) {
                if (other.acquire(0, TimeUnit.MILLISECONDS)) throw new IllegalStateException("both have it");
            }
            System.out.println("refused: " + (server.getZKDatabase().getDataTreeLastProcessedZxid() - zxid) / TIMES + " transactions");
            zxid = server.getZKDatabase().getDataTreeLastProcessedZxid();
            for (int i = 0; i < TIMES; i++) {
                if (other.getParticipantNodes().isEmpty()) throw new IllegalStateException("nobody has it");
            }
            System.out.println("read: " + (server.getZKDatabase().getDataTreeLastProcessedZxid() - zxid) / TIMES + " transactions");
        }
        System.exit(0);
    }
}
JAVA
said=$(java -cp "$home/lib/*" "$home/Try.java" "$home/data" 2>"$home/log") || { tail "$home/log"; exit 1; }
echo "$said"
grep -q "^granted: 2 transactions" <<<"$said" && grep -q "^refused: 2 transactions" <<<"$said" &&
    grep -q "^read: 0 transactions" <<<"$said" || { echo "the behaviour has changed"; exit 1; }
