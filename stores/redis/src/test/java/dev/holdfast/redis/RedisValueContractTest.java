package dev.holdfast.redis;

import org.junit.jupiter.api.Tag;

/** What the store on Redis makes of names and other values. */
@Tag("engine-in-another-class")
@Tag("only-values")
@Tag("processes-in-another-class")
class RedisValueContractTest extends RedisContract {}
