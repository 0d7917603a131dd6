package dev.holdfast.jdbc;

import org.junit.jupiter.api.Tag;

/** What PostgreSQL itself does. */
@Tag("engine-in-another-class")
@Tag("processes-in-another-class")
class PostgresStoreContractTest extends PostgresContract {}
