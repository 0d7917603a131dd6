package dev.holdfast.redis;

import org.junit.jupiter.api.Tag;

/** The engine on Redis. */
@Tag("client-outages-in-another-class")
@Tag("engine-proved-elsewhere")
@Tag("processes-in-another-class")
@Tag("store-in-another-class")
class RedisEngineContractTest extends RedisContract {}
