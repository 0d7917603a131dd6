package dev.holdfast.challenge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.challenge.Crew.Member;
import dev.holdfast.challenge.report.Results;
import dev.holdfast.challenge.store.StoreKind;
import dev.holdfast.challenge.store.Target;
import dev.holdfast.challenge.worker.Worker;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is not seen must not pass for something that is not there. */
class LeftoversTest {
    @TempDir
    private Path folder;

    @Test
    @Tag("thorough")
    void aRunWhoseLookIntoTheStoreFindsNoLockThatIsHeldIsInvalid() {
        StoreKind sqlite = StoreKind.of("sqlite");
        StoreKind blind = new StoreKind("sqlite", true, false, (clock, files) -> new Blind(sqlite.start(clock, files)));
        Results results = new Results();
        Plan plan = Plan.quick(1, Optional.of("sqlite/holdfast/*/steady"));

        new StoreRun(blind, plan, results, folder, () -> {}).run();

        assertThat(results.invalid())
                .singleElement()
                .asString()
                .startsWith("sqlite/*/*/steady: the store does not show locks that a worker holds")
                .endsWith("holdfast/plain, holdfast/fenced, holdfast/permits, holdfast/shared, holdfast/term,"
                        + " holdfast/period");
    }

    @Test
    void whatAWorkerHasOpenIsNotTestedWhileAThreadOfItDoesNotEndItsTurn() {
        String stage = folder.resolve("stage").toString();
        try (Target sqlite = StoreKind.of("sqlite").start(Optional.empty(), folder);
                ChildProcess process = ChildJvm.main(Worker.class).args(stage).start()) {
            Member member = new Member(7, process, Optional.empty(), sqlite.url(), Optional.empty());
            assertThat(new Leftovers(sqlite, Map.of(member, List.of()), false).notLookedInto())
                    .isEmpty();
            assertThat(new Leftovers(sqlite, Map.of(member, List.of("lane-3", "holdfast-timer")), false)
                            .notLookedInto())
                    .containsExactly("worker 7 has threads that do not end their turns: lane-3");
        }
    }

    /** A store that shows nothing, as one would whose tables have got other names. */
    private record Blind(Target sqlite) implements Target {
        @Override
        public String settings() {
            return sqlite.settings();
        }

        @Override
        public String url() {
            return sqlite.url();
        }

        @Override
        public List<String> kept() {
            return List.of();
        }

        @Override
        public List<String> openIn(long process) {
            return sqlite.openIn(process);
        }

        @Override
        public void close() {
            sqlite.close();
        }
    }
}
