package dev.holdfast.sqlite;

import static dev.holdfast.sqlite.Rig.get;
import static dev.holdfast.sqlite.Rig.hold;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockStatus;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.support.PagedListing;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lists that are longer than a page. */
class ListTest {
    private static final int MANY = 100_000;
    private static final long FOR_LONG = Long.MAX_VALUE / 4;

    @TempDir
    Path folder;

    @Test
    void renewalsPassAListOfAHundredThousandNames() {
        try (Rig rig = new Rig(folder)) {
            SqliteStore store = rig.open();
            Grant kept = hold(store, "kept");
            fill(rig, MANY);

            CompletableFuture<List<LockStatus>> listed = store.list("held ").toCompletableFuture();
            int renewals = 0;
            while (!listed.isDone()) {
                assertThat(get(store.renew(List.of(kept))).get(kept.id()).verdict())
                        .isEqualTo(Verdict.HELD);
                renewals++;
            }

            assertThat(get(listed)).hasSize(MANY);
            assertThat(renewals).isGreaterThan(20);
        }
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                0,
                1,
                PagedListing.PAGE - 1,
                PagedListing.PAGE,
                PagedListing.PAGE + 1,
                2 * PagedListing.PAGE,
                2 * PagedListing.PAGE + 1
            })
    void eachNameIsListedOnce(int names) {
        try (Rig rig = new Rig(folder)) {
            SqliteStore store = rig.open();
            hold(store, "a name before");
            hold(store, "names behind");
            fill(rig, names);
            assertThat(get(store.list("held ")))
                    .extracting(LockStatus::name)
                    .hasSize(names)
                    .doesNotHaveDuplicates();
            assertThat(get(store.list(""))).hasSize(names + 2);
        }
    }

    private static void fill(Rig rig, int names) {
        rig.sql("INSERT INTO holdfast_lock WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers"
                + " WHERE n < " + names + ") SELECT 'held ' || n, 1, 'claim', 1, 1, " + FOR_LONG
                + ", 0, 'host', 0, '', '' FROM numbers WHERE n <= " + names);
    }
}
