package dev.holdfast.jdbc;

import org.junit.jupiter.api.Tag;

/** The cases between processes on MariaDB. */
@Tag("engine-in-another-class")
@Tag("store-in-another-class")
@Tag("thorough")
class MariaDbProcessContractTest extends MariaDbContract {}
