package dev.holdfast.tck;

import org.junit.jupiter.api.Tag;

/** The store in memory itself. */
@Tag("engine-in-another-class")
class MemoryStoreContractTest extends MemoryContract {}
