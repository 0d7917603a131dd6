package dev.holdfast.zookeeper;

import org.junit.jupiter.api.Tag;

/** What ZooKeeper itself does. */
@Tag("engine-in-another-class")
@Tag("processes-in-another-class")
class ZooKeeperStoreContractTest extends ZooKeeperContract {}
