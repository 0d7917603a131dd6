package dev.holdfast.jdbc;

import org.junit.jupiter.api.Tag;

/** What the engine makes of PostgreSQL. */
@Tag("engine-proved-elsewhere")
@Tag("processes-in-another-class")
@Tag("store-in-another-class")
class PostgresEngineContractTest extends PostgresContract {}
