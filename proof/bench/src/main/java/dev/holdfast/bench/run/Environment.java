package dev.holdfast.bench.run;

import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.Collectors;

/** Where a run took place and what was in it: without that its figures say nothing. */
public final class Environment {
    private static final List<String> AS_CONFIGURED = List.of(
            "Redisson with its defaults (watchdog 30 s, 24 to 64 connections)",
            "Spring Integration with its defaults (asks each 100 ms; 60 s on Redis, 10 s on JDBC)",
            "ShedLock asked by its caller each ms, by the database's time, 30 s",
            "Curator with its default time-outs, one mutex shared by the threads of a process, and one for each thread",
            "pg_advisory_lock, GET_LOCK and SELECT … FOR UPDATE as the database has them, blocking, on a connection of"
                    + " the pool from acquire to release",
            "JDBC over a HikariCP pool of 16",
            "raw: the store's bare commands in a loop of 1 ms",
            "Holdfast with its defaults (lease 30 s), and with one option changed");

    private Environment() {}

    /** Notes the machine, the JVM, the libraries and the plan. */
    public static void describe(Results results, Plan plan) {
        results.setting("Day", LocalDate.now(ZoneOffset.UTC).toString());
        results.setting(
                "Machine",
                "%d cores, %s %s, loopback; workers and servers share them"
                        .formatted(
                                Runtime.getRuntime().availableProcessors(),
                                System.getProperty("os.name"),
                                System.getProperty("os.arch")));
        results.setting(
                "JVM",
                "Java %s (%s), workers with %s"
                        .formatted(
                                Runtime.version(), System.getProperty("java.vm.name"), String.join(" ", Fleet.FLAGS)));
        results.setting("Disk", Disk.describe());
        results.setting("Plan", plan.toString());
        results.setting(
                "Libraries",
                Versions.ofLibraries().entrySet().stream()
                        .map(entry -> entry.getKey() + " " + entry.getValue())
                        .collect(Collectors.joining(", ")));
        results.setting("Peers", String.join("; ", AS_CONFIGURED));
    }
}
