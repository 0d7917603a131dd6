package dev.holdfast.redis;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/**
 * The store on five members, and what callers are told of an outage of them. The engine sees one store, whatever the number
 * of its members: {@link QuorumContractTest} has its other cases, and those between processes.
 */
@Tag("only-client-outages")
@Tag("processes-in-another-class")
@Tag("thorough")
class QuorumOfFiveContractTest extends QuorumContract {
    @BeforeAll
    static void startServers() {
        start(5);
    }
}
