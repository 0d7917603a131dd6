#!/usr/bin/env bash
# ShedLock 7.10.1 on Redis 7.0.15 (shedlock-provider-redis-spring, embedded-redis 0.9.1): an unlock after lockAtMostFor has passed
# deletes the lock of whoever has it now, and a third caller gets it beside the second.
#
# A good guess: the key's value names its writer, and unlock() deletes the key only if it still has that value, as every page on
# locks in Redis says; or the late unlock() fails.
# Seen: the value names host and time, and is not compared: unlock() is a plain DEL, and says nothing. With
# builder.safeUpdate(true) it is compared, and the second keeps its lock; the late unlock() says nothing either way.
# Why a locker cares: a job that took longer than lockAtMostFor does more than overlap with its successor: it opens the lock for a
# third, whose unlock opens it for a fourth, though none of these was slow. One slow run breaks the lock for several after it.
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
    <dependency><groupId>net.javacrumbs.shedlock</groupId><artifactId>shedlock-provider-redis-spring</artifactId><version>7.10.1</version></dependency>
    <dependency><groupId>org.springframework.data</groupId><artifactId>spring-data-redis</artifactId><version>4.1.2</version></dependency>
    <dependency><groupId>io.lettuce</groupId><artifactId>lettuce-core</artifactId><version>7.7.0.RELEASE</version></dependency>
  </dependencies>
</project>
XML
mvn -B -q -f "$home/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory="$home/lib"
cat >"$home/Try.java" <<'JAVA'
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import net.javacrumbs.shedlock.core.*;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

public class Try {
    static Optional<SimpleLock> lock(LockProvider caller, String name, Duration atMost) {
        return caller.lock(new LockConfiguration(Instant.now(), name, atMost, Duration.ZERO));
    }

    static void lateUnlock(String name, LockProvider one, LockProvider two, LockProvider three) throws Exception {
        SimpleLock first = lock(one, name, Duration.ofMillis(300)).orElseThrow();
        Optional<SimpleLock> second = Optional.empty();
        while (second.isEmpty()) {
            Thread.sleep(20);
            second = lock(two, name, Duration.ofMinutes(1));
        }
        String late = "silent";
        try {
            first.unlock();
        } catch (RuntimeException refused) {
            late = "refused";
        }
        boolean third = lock(three, name, Duration.ofMinutes(1)).isPresent();
        System.out.println(name + ": late unlock " + late + ", a third " + (third ? "has it beside the second" : "is kept out"));
    }

    public static void main(String[] args) throws Exception {
        LettuceConnectionFactory redis =
                new LettuceConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", Integer.parseInt(args[0])));
        redis.afterPropertiesSet();
        redis.start();
        lateUnlock("default", new RedisLockProvider(redis), new RedisLockProvider(redis), new RedisLockProvider(redis));
        LockProvider safe = new RedisLockProvider.Builder(redis).safeUpdate(true).build();
        lateUnlock("safeUpdate", safe, safe, safe);
        System.exit(0);
    }
}
JAVA
said=$(java -cp "$home/lib/*" "$home/Try.java" "$port" 2>"$home/log") || { tail "$home/log"; exit 1; }
echo "$said"
grep -q "^default: late unlock silent, a third has it beside the second" <<<"$said" &&
    grep -q "^safeUpdate: late unlock silent, a third is kept out" <<<"$said" || { echo "the behaviour has changed"; exit 1; }
