package dev.holdfast.zookeeper;

import org.junit.jupiter.api.Tag;

/** The engine on ZooKeeper. */
@Tag("thorough")
@Tag("client-outages-proved-elsewhere")
@Tag("processes-in-another-class")
@Tag("store-in-another-class")
class ZooKeeperEngineContractTest extends ZooKeeperContract {}
