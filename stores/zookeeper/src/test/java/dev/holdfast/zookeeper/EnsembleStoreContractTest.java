package dev.holdfast.zookeeper;

import org.junit.jupiter.api.Tag;

/**
 * The store on three servers, and the cases between processes. For {@code ./verify --all}: the contract of one server, {@link
 * ZooKeeperStoreContractTest}, is everyday, and {@link ThreeServersTest} has what differs.
 */
@Tag("engine-in-another-class")
@Tag("thorough")
class EnsembleStoreContractTest extends EnsembleContract {}
