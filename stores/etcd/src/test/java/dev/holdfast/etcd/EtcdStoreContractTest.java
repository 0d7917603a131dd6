package dev.holdfast.etcd;

import org.junit.jupiter.api.Tag;

/** The contract of the store on etcd itself. */
@Tag("engine-in-another-class")
@Tag("processes-in-another-class")
@Tag("values-in-another-class")
class EtcdStoreContractTest extends EtcdContract {}
