package dev.holdfast.zookeeper;

import org.junit.jupiter.api.Tag;

/**
 * The contract between processes on ZooKeeper. All modes are nodes in one queue, of the same sessions: how the queue
 * loses a killed process is tested for exclusive holds every day, and for readers and permits by {@code ./verify
 * --all}.
 */
@Tag("thorough")
@Tag("engine-in-another-class")
@Tag("shared-processes-proved-elsewhere")
@Tag("store-in-another-class")
class ZooKeeperProcessContractTest extends ZooKeeperContract {}
