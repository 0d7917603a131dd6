package dev.holdfast.etcd;

import org.junit.jupiter.api.Tag;

/** What callers are told of an outage of etcd. */
@Tag("only-client-outages")
@Tag("processes-in-another-class")
@Tag("store-in-another-class")
@Tag("thorough")
class EtcdOutageContractTest extends EtcdContract {}
