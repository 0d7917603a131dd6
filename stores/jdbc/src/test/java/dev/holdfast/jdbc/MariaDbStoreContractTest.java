package dev.holdfast.jdbc;

import org.junit.jupiter.api.Tag;

/** The store on MariaDB. */
@Tag("engine-in-another-class")
@Tag("processes-in-another-class")
@Tag("thorough")
class MariaDbStoreContractTest extends MariaDbContract {}
