package dev.holdfast.testbed;

import java.util.function.Supplier;
import org.junit.jupiter.api.Assumptions;

/**
 * A server for one test: where there is none the test is skipped and says why; in CI it fails.
 *
 * <pre>{@code
 * RedisServer redis = OrSkip.orSkip(RedisServer::start);
 * }</pre>
 *
 * <p>Needs JUnit Jupiter on the class path, as tests have it.
 */
public final class OrSkip {
    private OrSkip() {}

    /** Starts it, or aborts the test. */
    public static <S> S orSkip(Supplier<S> start) {
        try {
            return start.get();
        } catch (ServerMissingException e) {
            if (e.isFailure()) {
                throw e;
            }
            return Assumptions.abort(e.getMessage());
        }
    }
}
