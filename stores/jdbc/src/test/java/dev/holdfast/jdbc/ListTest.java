package dev.holdfast.jdbc;

import static dev.holdfast.jdbc.Rig.get;
import static dev.holdfast.jdbc.Rig.hold;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockStatus;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
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
            ints = {0, 1, Listing.PAGE - 1, Listing.PAGE, Listing.PAGE + 1, 2 * Listing.PAGE, 2 * Listing.PAGE + 1})
    void eachNameIsListedOnce(int names) throws SQLException {
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
        String url = "jdbc:h2:mem:listed" + names;
        try (Store store = new JdbcStoreProvider().open(url, new StoreContext(new ServerCases.NoTimer()));
                Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            get(store.claim(Rig.claim("a name before")).answer()).orElseThrow();
            get(store.claim(Rig.claim("names behind")).answer()).orElseThrow();
            statement.execute("INSERT INTO holdfast_lock SELECT STRINGTOUTF8(concat('held ', x)), 1, 1, 'claim', 1, 1, "
                    + FOR_LONG + ", '', '', 'host', 0, '', '' FROM SYSTEM_RANGE(1, " + names + ")");
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
