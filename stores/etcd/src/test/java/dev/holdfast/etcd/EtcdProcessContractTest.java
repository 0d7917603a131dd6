package dev.holdfast.etcd;

import org.junit.jupiter.api.Tag;

/** The contract between processes on etcd; all modes are keys in one queue, with the same leases. */
@Tag("thorough")
@Tag("engine-in-another-class")
@Tag("shared-processes-proved-elsewhere")
@Tag("store-in-another-class")
class EtcdProcessContractTest extends EtcdContract {}
