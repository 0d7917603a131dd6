package dev.holdfast.testbed;

import java.util.function.Supplier;
import org.junit.jupiter.api.Assumptions;

/** A server for one test: where there is none the test is skipped, in CI it fails. */
final class OrSkip {
    private OrSkip() {}

    static <S> S orSkip(Supplier<S> start) {
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
