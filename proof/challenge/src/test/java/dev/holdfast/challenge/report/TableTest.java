package dev.holdfast.challenge.report;

import static dev.holdfast.challenge.report.Histories.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.history.LaneHistory.Bite;
import dev.holdfast.challenge.history.LaneHistory.Cell;
import dev.holdfast.challenge.history.Turn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Of runs whose files were written by the reports themselves; worker 1 was stopped from 100 to 200. */
class TableTest {
    @TempDir
    private Path folder;

    @Test
    void runsOfSeveralStoresBecomeALineForEachStoreAndGroupOfFaults() throws IOException {
        Results redis = run("redis", "Redis 7.0.15, nothing is written to disk");
        redis.add(history("redis", "holdfast", "plain", "pause-holder"));
        redis.add(history("redis", "holdfast", "fenced", "pause-holder"));
        redis.add(history("redis", "holdfast", "plain", "reset"));
        redis.add(history("redis", "shedlock", "plain", "pause-holder"));
        redis.add(history("redis", "lock4j", "plain", "pause-holder", write(1, 90, 220, 7), write(2, 140, 160, 7)));
        redis.notTested("redis/*/*/client-clock", "needs gcc");
        Results sqlite = run("sqlite", "SQLite by a driver, a file");
        sqlite.add(history("sqlite", "holdfast", "plain", "steady", write(1, 490, 620, 7), write(2, 540, 560, 8)));

        String table = Table.of(List.of(written(redis, "one"), written(sqlite, "two")));

        assertThat(table.lines().map(line -> line.replaceAll("(ShedLock|lock4j) [\\d.]+", "$1")))
                .containsExactly(
                        "| store | faults | Holdfast | other libraries |",
                        "|---|---|---|---|",
                        "| Redis 7.0.15 | workers race; are stopped, killed, interrupted"
                                + " | HELD under 1 of 1: 1 events, 2 bites, each < 100.0 %"
                                + " | ShedLock (a try each 100 ms, lockAtMostFor 30 s): HELD under 1 of 1: 1 events, 1 bites,"
                                + " each < 100.0 %. lock4j (a try each 100 ms, expire 30 s): BROKEN pause-holder (tokens: 1 of 1) |",
                        "| Redis 7.0.15 | replies lost; connections reset, cut off"
                                + " | HELD under 1 of 1: 1 events, 1 bites, each < 100.0 % | – |",
                        "| SQLite by a driver | workers race; are stopped, killed, interrupted"
                                + " | BROKEN steady (exclusive, order, register: 1 of 1) | – |",
                        "",
                        "redis/*/*/client-clock: NOT TESTED (needs gcc)");
    }

    @Test
    void whatIsNoResultOfAWholeRunIsRefused() throws IOException {
        Results redis = run("redis", "Redis");
        redis.add(history("redis", "holdfast", "plain", "steady"));
        Path unfinished = folder.resolve("unfinished");
        Files.createDirectories(unfinished);
        JsonReport.write(unfinished.resolve("results.json"), redis);
        assertRefused("the run is not complete", unfinished);

        Path whole = written(redis, "whole");
        assertRefused("another run is of redis, too", whole, whole);

        Results uncontrolled = new Results();
        uncontrolled.add(history("redis", "holdfast", "plain", "steady"));
        assertRefused("the run is invalid", written(uncontrolled, "uncontrolled"));

        assertRefused("no results of a challenge in " + folder, folder);
        Files.writeString(folder.resolve("results.json"), "[1,");
        assertRefused("no results of a challenge in " + folder, folder);
        Files.writeString(folder.resolve("results.json"), "{\"complete\":true}");
        assertRefused("results.json", folder);
        Files.writeString(folder.resolve("results.json"), "");
        assertRefused("results.json", folder);
    }

    @Test
    void theBoundIsThatOfTheUseThatWasBittenLeastOften() throws IOException {
        Results redis = run("redis", "Redis");
        redis.add(bitten("plain", 30));
        redis.add(bitten("fenced", 10));

        assertThat(Table.of(List.of(written(redis, "one"))))
                .contains("HELD under 1 of 1: 30 events, 40 bites, each < 30.0 %");
    }

    private static LaneHistory bitten(String workload, int times) {
        List<Bite> bites = IntStream.range(0, times)
                .mapToObj(event -> new Bite(1, 10L * event, 10L * event + 5, true))
                .toList();
        Cell cell = new Cell("redis", "holdfast", workload, "reset");
        return new LaneHistory(cell, 0, List.of(), bites, List.of(), List.of(), List.of());
    }

    private static void assertRefused(String why, Path... folders) {
        assertThatThrownBy(() -> Table.of(List.of(folders)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(why);
    }

    /** With a wrong lock that was caught. */
    private static Results run(String store, String setting) {
        Results results = new Results();
        results.setting(store, setting);
        results.add(history(store, "two-holders", "plain", "steady", write(1, 90, 220, 5), write(2, 140, 160, 6)));
        return results;
    }

    private Path written(Results results, String name) throws IOException {
        results.complete();
        Path to = folder.resolve(name);
        Files.createDirectories(to);
        JsonReport.write(to.resolve("results.json"), results);
        return to;
    }

    private static LaneHistory history(String store, String lock, String workload, String fault, Turn... turns) {
        return Histories.of(new Cell(store, lock, workload, fault), turns);
    }
}
