#!/usr/bin/env bash
# Redisson 4.7.0, Redis 7.0.15 (embedded-redis 0.9.1): one lock whose key is overwritten by a value ends the renewal of
# other locks of the same client, though nobody touched them.
#
# A good guess: a SET of a key that is also a lock's name destroys that lock, and its unlock() fails; each other lock has its own
# watchdog and is renewed as before.
# Seen: the watchdog renews up to 100 locks by one script, and what does not fit by further scripts, one after another. The script
# asks HEXISTS of each key; at a key of another type it fails there. The keys behind it in the script are not renewed, the scripts
# behind it are not sent, and each round begins in the same order and fails at the same key. When their time is over these locks
# are free, while their holders work: 143 of 299. The program is told by a line in its log.
# Why a locker cares: names of locks and of data share one space, and getLock("order-150") beside getBucket("order-150") is soon
# written. The mistake in one place is paid by locks elsewhere. Give locks a prefix that no data has.
# Fails if the behaviour changes. Needs Java 17 and Maven.
set -euo pipefail
home=$(mktemp -d)
trap 'kill "$(cat "$home/pid")" 2>/dev/null; sleep 0.3; rm -rf "$home"' EXIT
mvn -B -q org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact=org.signal:embedded-redis:0.9.1 -DoutputDirectory="$home"
(cd "$home" && jar xf embedded-redis-0.9.1.jar)
case $(uname -m) in x86_64) arch=amd64 ;; *) arch=arm64 ;; esac
server=$(find "$home" -name "redis-server*linux-$arch" | head -1); chmod +x "$server"
port=$((20000 + RANDOM % 10000))
"$server" --port "$port" --bind 127.0.0.1 --dir "$home" --save "" >"$home/redis.log" 2>&1 &
echo $! >"$home/pid"
until (exec 4<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do sleep 0.1; done
cat >"$home/pom.xml" <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.redisson</groupId><artifactId>redisson</artifactId><version>4.7.0</version></dependency>
  </dependencies>
</project>
XML
mvn -B -q -f "$home/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory="$home/lib"
cat >"$home/Renewals.java" <<'JAVA'
import java.util.*;
import org.redisson.Redisson;
import org.redisson.api.*;
import org.redisson.config.Config;

public class Renewals {
    static final int LOCKS = 300;

    static RedissonClient client(String port) {
        Config config = new Config();
        config.setLockWatchdogTimeout(15_000); // 30_000 by default: the same, later
        config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
        return Redisson.create(config);
    }

    static List<RLock> locks(RedissonClient client, String prefix) {
        List<RLock> all = new ArrayList<>();
        for (int i = 0; i < LOCKS; i++) all.add(client.getLock(prefix + i));
        return all;
    }

    static int taken(RedissonClient other, String prefix) {
        int taken = 0;
        for (RLock lock : locks(other, prefix)) {
            if (!lock.getName().equals("order-150") && lock.tryLock()) taken++;
        }
        return taken;
    }

    public static void main(String[] args) throws Exception {
        RedissonClient one = client(args[0]);
        RedissonClient two = client(args[0]);
        RedissonClient other = client(args[0]);
        locks(one, "order-").forEach(RLock::lock);
        locks(two, "other-").forEach(RLock::lock);
        one.getBucket("order-150").set("paid");
        System.out.println("at once, others that a third client gets: " + taken(other, "order-") + " and " + taken(other, "other-"));
        Thread.sleep(22_000); // the 15 s, and what a round before the SET gave
        System.out.println("22 s later, of the client with the overwritten lock: " + taken(other, "order-") + " of 299");
        System.out.println("of the client without: " + taken(other, "other-") + " of 300");
        System.exit(0);
    }
}
JAVA
said=$(java -cp "$home/lib/*" "$home/Renewals.java" "$port" 2>"$home/log") || { tail "$home/log"; exit 1; }
echo "$said"
grep -qx "at once, others that a third client gets: 0 and 0" <<<"$said" &&
    grep -Eqx "22 s later, of the client with the overwritten lock: [0-9]{2,3} of 299" <<<"$said" &&
    grep -qx "of the client without: 0 of 300" <<<"$said" || { echo "the behaviour has changed"; exit 1; }
