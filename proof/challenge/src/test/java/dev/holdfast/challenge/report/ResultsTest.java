package dev.holdfast.challenge.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.challenge.history.LaneHistory.Cell;
import org.junit.jupiter.api.Test;

/** What makes a run worth nothing. */
class ResultsTest {
    private final Results results = new Results();

    @Test
    void aRunThatAttackedNothingSaysNothing() {
        results.notTested("mariadb", "MariaDB is missing");
        results.complete();
        assertThat(results.invalid()).containsExactly("nothing was attacked");
    }

    @Test
    void wrongLocksMayComeLaterUntilTheRunIsComplete() {
        results.add(Histories.of(new Cell("redis", "holdfast", "plain", "reset")));
        assertThat(results.invalid()).isEmpty();
        results.complete();
        assertThat(results.invalid()).containsExactly("no wrong lock was run on redis");
    }
}
