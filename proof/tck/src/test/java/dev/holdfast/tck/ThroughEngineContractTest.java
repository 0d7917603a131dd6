package dev.holdfast.tck;

import org.junit.jupiter.api.Tag;

/** The engine on the store in memory. By its name it begins before others, as it takes longest. */
@Tag("store-in-another-class")
class ThroughEngineContractTest extends MemoryContract {}
