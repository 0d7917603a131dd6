package dev.holdfast.memcached;

import org.junit.jupiter.api.Tag;

/** The engine on Memcached. */
@Tag("thorough")
@Tag("client-outages-in-another-class")
@Tag("processes-in-another-class")
@Tag("store-in-another-class")
class MemcachedEngineContractTest extends MemcachedContract {}
