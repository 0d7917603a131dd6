package dev.holdfast.memcached;

import org.junit.jupiter.api.Tag;

/** The contract of the store on Memcached itself; SQLite's has leases and polls as well. */
@Tag("thorough")
@Tag("engine-in-another-class")
@Tag("processes-in-another-class")
@Tag("values-in-another-class")
class MemcachedStoreContractTest extends MemcachedContract {}
