#!/usr/bin/env bash
# Reactor 3.8.6: Mono.usingWhen and Flux.usingWhen do not clean up after an Error that Reactor calls fatal: any LinkageError (so
# NoSuchMethodError, NoClassDefFoundError, ExceptionInInitializerError) and any VirtualMachineError (so StackOverflowError).
#
# A good guess: "usingWhen" is try and finally for publishers: the lock is released however the body ends, and the subscriber is told.
# Seen: an AssertionError goes that way. A NoSuchMethodError or a StackOverflowError that an operator of the body throws is thrown
# out of the pipeline instead: on a scheduler's thread it ends there, the subscriber is told nothing, and the lock stays until
# somebody cancels: timeout() does. On the subscriber's own thread the subscriber is told, and the lock stays for good.
# Why a locker cares: one missing class in one rare branch, or one deep recursion, and a lock that is renewed is never free while the
# program runs; other threads of it are well. Give every body a timeout() on another thread, or wrap what it calls: catch Error,
# throw an exception.
# Fails if the behaviour changes. Needs Java 17 and Maven.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
cat >"$home/pom.xml" <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>io.projectreactor</groupId><artifactId>reactor-core</artifactId><version>3.8.6</version></dependency>
  </dependencies>
</project>
XML
mvn -B -q -f "$home/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory="$home/lib"
cat >"$home/Fatal.java" <<'JAVA'
import java.time.Duration;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.*;
import reactor.core.publisher.*;
import reactor.core.scheduler.Schedulers;

public class Fatal {
    static void run(boolean mono, String way, Supplier<Error> error) throws Exception {
        AtomicBoolean held = new AtomicBoolean();
        CompletableFuture<String> told = new CompletableFuture<>();
        Mono<AtomicBoolean> lock = Mono.fromCallable(() -> {
            held.set(true);
            return held;
        });
        Function<AtomicBoolean, Mono<Void>> unlock = taken -> Mono.fromRunnable(() -> taken.set(false));
        Function<AtomicBoolean, Mono<String>> work = taken -> {
            Mono<Integer> order = Mono.just(1);
            if (!way.equals("same thread")) order = order.publishOn(Schedulers.parallel());
            return order.map(number -> {
                throw error.get();
            });
        };
        Flux<String> all = mono ? Mono.usingWhen(lock, work, unlock).flux() : Flux.usingWhen(lock, work, unlock);
        if (way.endsWith("timeout")) all = all.timeout(Duration.ofMillis(500));
        all.subscribe(value -> {}, failed -> told.complete(failed.getClass().getSimpleName()), () -> told.complete("the end"));
        String heard;
        try {
            heard = told.get(2, TimeUnit.SECONDS);
        } catch (TimeoutException nothing) {
            heard = "nothing";
        }
        Thread.sleep(100); // the release may come after the word
        System.out.println((mono ? "Mono, " : "Flux, ") + way + ", " + error.get().getClass().getSimpleName() + ": told " + heard
                + ", lock " + (held.get() ? "held" : "free"));
    }

    public static void main(String[] args) throws Exception {
        for (boolean mono : new boolean[] {true, false}) {
            for (String way : new String[] {"other thread", "same thread", "other thread with timeout"}) {
                run(mono, way, AssertionError::new);
                run(mono, way, NoSuchMethodError::new);
                run(mono, way, StackOverflowError::new);
            }
        }
        System.exit(0);
    }
}
JAVA
said=$(java -cp "$home/lib/*" "$home/Fatal.java" 2>"$home/log") || { tail "$home/log"; exit 1; }
echo "$said"
for flavour in Mono Flux; do
    for way in "other thread" "same thread" "other thread with timeout"; do
        grep -qx "$flavour, $way, AssertionError: told AssertionError, lock free" <<<"$said" || { echo "the behaviour has changed"; exit 1; }
    done
    for error in NoSuchMethodError StackOverflowError; do
        grep -qx "$flavour, other thread, $error: told nothing, lock held" <<<"$said" &&
            grep -qx "$flavour, same thread, $error: told $error, lock held" <<<"$said" &&
            grep -qx "$flavour, other thread with timeout, $error: told TimeoutException, lock free" <<<"$said" ||
            { echo "the behaviour has changed"; exit 1; }
    done
done
