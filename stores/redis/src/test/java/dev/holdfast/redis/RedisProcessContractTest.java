package dev.holdfast.redis;

import org.junit.jupiter.api.Tag;

/** Several processes on Redis. */
@Tag("engine-in-another-class")
@Tag("shared-processes-proved-elsewhere")
@Tag("store-in-another-class")
class RedisProcessContractTest extends RedisContract {}
