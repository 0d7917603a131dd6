package dev.holdfast.redis;

import org.junit.jupiter.api.Tag;

/** What the engine makes of Redis. */
@Tag("processes-in-another-class")
@Tag("store-in-another-class")
class RedisEngineContractTest extends RedisContract {}
