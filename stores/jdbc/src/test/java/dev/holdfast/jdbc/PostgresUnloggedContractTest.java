package dev.holdfast.jdbc;

import org.junit.jupiter.api.Tag;

/**
 * The contract on rows that are not logged. Its statements are those of {@link PostgresStoreContractTest}; what differs is in
 * {@link UnloggedRowsTest}, which runs everyday.
 */
@Tag("engine-in-another-class")
@Tag("processes-in-another-class")
@Tag("values-in-another-class")
@Tag("thorough")
class PostgresUnloggedContractTest extends PostgresContract {
    @Override
    protected String jdbcUrl() {
        return super.jdbcUrl() + "&holdfast.unlogged=true";
    }
}
