package dev.holdfast.jdbc;

import org.junit.jupiter.api.Tag;

/**
 * What happens between processes on PostgreSQL. Readers and permits are kept in the row of their lock, which outlives its
 * processes as an exclusive hold does: how they lose a killed process is asked every day of SQLite and Redis, and here by
 * {@code ./verify --all}.
 */
@Tag("engine-in-another-class")
@Tag("shared-processes-proved-elsewhere")
@Tag("store-in-another-class")
class PostgresProcessContractTest extends PostgresContract {}
