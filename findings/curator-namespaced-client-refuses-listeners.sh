#!/usr/bin/env bash
# Apache Curator 5.9.0: a client made by usingNamespace("…") has getConnectionStateListenable(), and throws
# at getCuratorListenable().
#
# A good guess: a namespaced client is a CuratorFramework like any other, so a library that takes a CuratorFramework may
# listen to it. Seen: UnsupportedOperationException, from a getter, at run time; CuratorFrameworkFactory.builder().namespace("…")
# has the same namespace and allows it.
# Why a locker cares: a lock that hears of the end of background deletes by that listener works until somebody gives it
# a namespaced client.
# Fails if the behaviour changes. Needs Java 17 and Maven; no server.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
cat >"$home/pom.xml" <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.curator</groupId><artifactId>curator-framework</artifactId><version>5.9.0</version></dependency>
  </dependencies>
</project>
XML
mvn -B -q -f "$home/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory="$home/lib"
cat >"$home/Listen.java" <<'JAVA'
import org.apache.curator.framework.*;
import org.apache.curator.retry.RetryOneTime;

public class Listen {
    interface Getter { Object get() throws Exception; }

    static void say(String what, Getter getter) {
        try {
            System.out.println(what + ": " + (getter.get() != null));
        } catch (Exception e) {
            System.out.println(what + ": " + e);
        }
    }

    public static void main(String[] args) {
        CuratorFramework plain = CuratorFrameworkFactory.newClient("127.0.0.1:1", new RetryOneTime(1));
        plain.start(); // it need not connect
        CuratorFramework inside = plain.usingNamespace("orders");
        CuratorFramework built = CuratorFrameworkFactory.builder().connectString("127.0.0.1:1")
                .retryPolicy(new RetryOneTime(1)).namespace("orders").build();
        say("plain", plain::getCuratorListenable);
        say("built with a namespace", built::getCuratorListenable);
        say("usingNamespace, connection states", inside::getConnectionStateListenable);
        say("usingNamespace", inside::getCuratorListenable);
        System.exit(0);
    }
}
JAVA
said=$(java -cp "$home/lib/*" "$home/Listen.java" 2>/dev/null)
echo "$said"
grep -q "^plain: true" <<<"$said" && grep -q "^built with a namespace: true" <<<"$said" &&
    grep -q "^usingNamespace, connection states: true" <<<"$said" &&
    grep -qE "^usingNamespace: .*(IllegalState|UnsupportedOperation)" <<<"$said" || { echo "the behaviour has changed"; exit 1; }
