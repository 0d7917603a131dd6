package dev.holdfast.sqlite;

import org.junit.jupiter.api.Tag;

/** What happens between processes on the embedded store. */
@Tag("engine-in-another-class")
@Tag("exclusive-processes-proved-elsewhere")
@Tag("store-in-another-class")
class SqliteProcessContractTest extends SqliteContract {}
