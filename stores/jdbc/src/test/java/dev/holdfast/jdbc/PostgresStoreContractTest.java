package dev.holdfast.jdbc;

import org.junit.jupiter.api.Tag;

/**
 * The store on PostgreSQL. For {@code ./verify --all}: everyday, the contract runs on MariaDB, of the same rows, and on
 * Redis, which notifies as PostgreSQL does; {@link PostgresServerTest} and {@link PostgresFuzzTest} have what differs.
 */
@Tag("engine-in-another-class")
@Tag("processes-in-another-class")
@Tag("thorough")
class PostgresStoreContractTest extends PostgresContract {}
