package dev.holdfast.zookeeper;

import org.junit.jupiter.api.Tag;

/** What the store on ZooKeeper makes of names and other values. */
@Tag("engine-in-another-class")
@Tag("processes-in-another-class")
@Tag("only-values")
@Tag("values-proved-elsewhere")
class ZooKeeperValueContractTest extends ZooKeeperContract {}
