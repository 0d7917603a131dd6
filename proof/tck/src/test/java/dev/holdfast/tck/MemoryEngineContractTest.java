package dev.holdfast.tck;

import org.junit.jupiter.api.Tag;

/** The engine on the store in memory. */
@Tag("store-in-another-class")
class MemoryEngineContractTest extends MemoryContract {}
