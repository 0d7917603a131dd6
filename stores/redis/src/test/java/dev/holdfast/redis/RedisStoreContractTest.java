package dev.holdfast.redis;

import org.junit.jupiter.api.Tag;

/** The Redis store itself. */
@Tag("engine-in-another-class")
@Tag("processes-in-another-class")
@Tag("values-in-another-class")
class RedisStoreContractTest extends RedisContract {}
