package dev.holdfast.redis;

import org.junit.jupiter.api.Tag;

/** What Redis itself does. */
@Tag("engine-in-another-class")
@Tag("processes-in-another-class")
class RedisStoreContractTest extends RedisContract {}
