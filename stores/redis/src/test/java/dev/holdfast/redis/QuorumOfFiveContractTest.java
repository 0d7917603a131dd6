package dev.holdfast.redis;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/**
 * What the store itself does with five members, and what callers are told of an outage. For {@code ./verify --all}: the
 * engine sees one store whatever their number; its other cases, and those between processes, are {@link
 * QuorumContractTest}'s.
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
