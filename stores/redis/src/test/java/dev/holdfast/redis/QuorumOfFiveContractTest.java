package dev.holdfast.redis;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract on five members, which {@code ./verify --all} runs. */
@Tag("thorough")
class QuorumOfFiveContractTest extends QuorumContract {
    @BeforeAll
    static void startServers() {
        start(5);
    }
}
