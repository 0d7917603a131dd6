package dev.holdfast.zookeeper;

import org.junit.jupiter.api.Tag;

/** The engine on three servers. */
@Tag("processes-in-another-class")
@Tag("store-in-another-class")
@Tag("thorough")
class EnsembleEngineContractTest extends EnsembleContract {}
