package dev.holdfast.redis;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/**
 * The contract on three members. For {@code ./verify --all}: the contract of one server is everyday, and
 * {@link QuorumTest} and its siblings have what differs.
 */
@Tag("thorough")
class QuorumContractTest extends QuorumContract {
    @BeforeAll
    static void startServers() {
        start(3);
    }
}
