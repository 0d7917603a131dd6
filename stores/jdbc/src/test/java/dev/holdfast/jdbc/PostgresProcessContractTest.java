package dev.holdfast.jdbc;

import org.junit.jupiter.api.Tag;

/**
 * The cases between processes on PostgreSQL. For {@code ./verify --all}: a row outlives its process as a record of
 * SQLite or Redis does, which are asked every day.
 */
@Tag("engine-in-another-class")
@Tag("store-in-another-class")
@Tag("thorough")
class PostgresProcessContractTest extends PostgresContract {}
