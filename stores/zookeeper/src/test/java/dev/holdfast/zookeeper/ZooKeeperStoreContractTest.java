package dev.holdfast.zookeeper;

import org.junit.jupiter.api.Tag;

/** The contract of the store on ZooKeeper itself. */
@Tag("engine-in-another-class")
@Tag("processes-in-another-class")
@Tag("values-in-another-class")
class ZooKeeperStoreContractTest extends ZooKeeperContract {}
