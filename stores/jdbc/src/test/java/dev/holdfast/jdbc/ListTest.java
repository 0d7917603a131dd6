package dev.holdfast.jdbc;

import static dev.holdfast.jdbc.Requests.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockStatus;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.spi.support.PagedListing;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lists that are longer than a page. */
@Tag("thorough")
class ListTest {
    private static final long FOR_LONG = Long.MAX_VALUE / 4;

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
    void eachNameIsListedOnce(int names) throws SQLException {
        String url = "jdbc:h2:mem:listed" + names;
        try (Store store = new JdbcStoreProvider().open(url, new StoreContext(new ServerCases.NoWallClock()));
                Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            get(Asked.of(store, Requests.claim("a name before")).answer()).orElseThrow();
            get(Asked.of(store, Requests.claim("names behind")).answer()).orElseThrow();
            statement.execute("INSERT INTO holdfast_lock SELECT STRINGTOUTF8(concat('held ', x)), 1, 1, 'claim', 1, 1, "
                    + FOR_LONG + ", '', '', 'host', 0, '', '' FROM SYSTEM_RANGE(1, " + names + ")");
            assertThat(get(store.list("held ")))
                    .extracting(LockStatus::name)
                    .hasSize(names)
                    .doesNotHaveDuplicates();
            assertThat(get(store.list(""))).hasSize(names + 2);
        }
    }
}
