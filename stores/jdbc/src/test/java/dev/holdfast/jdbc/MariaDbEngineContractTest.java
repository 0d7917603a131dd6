package dev.holdfast.jdbc;

import org.junit.jupiter.api.Tag;

/** What the engine makes of MariaDB. */
@Tag("processes-in-another-class")
@Tag("store-in-another-class")
@Tag("thorough")
class MariaDbEngineContractTest extends MariaDbContract {}
