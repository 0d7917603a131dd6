package dev.holdfast.redis;

import org.junit.jupiter.api.Tag;

/** What callers are told of an outage of Redis. */
@Tag("only-client-outages")
@Tag("processes-in-another-class")
@Tag("store-in-another-class")
class RedisOutageContractTest extends RedisContract {}
