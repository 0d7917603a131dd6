package dev.holdfast.etcd;

import org.junit.jupiter.api.Tag;

/** The engine on etcd. */
@Tag("thorough")
@Tag("client-outages-in-another-class")
@Tag("processes-in-another-class")
@Tag("store-in-another-class")
class EtcdEngineContractTest extends EtcdContract {}
