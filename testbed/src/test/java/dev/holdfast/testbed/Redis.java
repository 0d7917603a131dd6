package dev.holdfast.testbed;

import org.junit.jupiter.api.Assumptions;

/** A Redis for one test: where there is none the test is skipped, in CI it fails. */
final class Redis {
    private Redis() {}

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
