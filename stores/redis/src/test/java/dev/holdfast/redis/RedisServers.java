package dev.holdfast.redis;

import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.ServerMissingException;
import org.junit.jupiter.api.Assumptions;

/** A Redis for a test: where there is none the test is skipped, in CI it fails. */
final class RedisServers {
    private RedisServers() {}

    static RedisServer start(String... options) {
        try {
            return RedisServer.start(options);
        } catch (ServerMissingException e) {
            if (e.isFailure()) {
                throw e;
            }
            return Assumptions.abort(e.getMessage());
        }
    }
}
