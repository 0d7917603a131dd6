package dev.holdfast.etcd;

import org.junit.jupiter.api.Tag;

/** The contract of the store on etcd itself, which mostly waits. By its name it begins before others, as it takes longest. */
@Tag("engine-in-another-class")
@Tag("processes-in-another-class")
@Tag("values-in-another-class")
class WaitsOnEtcdContractTest extends EtcdContract {}
