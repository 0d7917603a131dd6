package dev.holdfast.sqlite;

import org.junit.jupiter.api.Tag;

/** What the engine makes of the embedded store. */
@Tag("client-outages-proved-elsewhere")
@Tag("processes-in-another-class")
@Tag("store-in-another-class")
class SqliteEngineContractTest extends SqliteContract {}
