package dev.holdfast.redis;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/**
 * The contract on three members. The everyday tier of {@code ./verify} leaves the cases that run through the engine,
 * those between processes and those of values to the classes of one server.
 */
@Tag("engine-proved-elsewhere")
@Tag("processes-proved-elsewhere")
@Tag("shared-processes-proved-elsewhere")
@Tag("values-proved-elsewhere")
class QuorumContractTest extends QuorumContract {
    @BeforeAll
    static void startServers() {
        start(3);
    }
}
