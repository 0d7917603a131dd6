package dev.holdfast.jdbc;

import org.junit.jupiter.api.Tag;

/** What happens between processes on PostgreSQL. */
@Tag("engine-in-another-class")
@Tag("store-in-another-class")
class PostgresProcessContractTest extends PostgresContract {}
