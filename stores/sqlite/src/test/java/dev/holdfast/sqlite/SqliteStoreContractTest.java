package dev.holdfast.sqlite;

import org.junit.jupiter.api.Tag;

/** What the embedded store itself does. */
@Tag("engine-in-another-class")
@Tag("processes-in-another-class")
class SqliteStoreContractTest extends SqliteContract {}
