package dev.holdfast.memcached;

import org.junit.jupiter.api.Tag;

/** What callers are told of an outage of Memcached. */
@Tag("only-client-outages")
@Tag("processes-in-another-class")
@Tag("store-in-another-class")
@Tag("thorough")
class MemcachedOutageContractTest extends MemcachedContract {}
