package dev.holdfast.memcached;

import org.junit.jupiter.api.Tag;

/** The contract between processes on Memcached. */
@Tag("thorough")
@Tag("engine-in-another-class")
@Tag("shared-processes-proved-elsewhere")
@Tag("store-in-another-class")
class MemcachedProcessContractTest extends MemcachedContract {}
