package dev.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.StoreListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a store reports, to a listener that is named late and may throw. */
class LateListenerTest {
    private static final Grant GRANT = new Grant(ClaimId.random(), "a", Mode.EXCLUSIVE, Duration.ofSeconds(1), 1, 0);

    private final LateListener late = new LateListener();

    @Test
    void aReportGoesToTheListenerOnceItIsNamed() {
        Throwing listener = new Throwing(null);
        late.lost(GRANT);
        late.set(listener);
        late.wanted(GRANT);
        assertThat(listener.heard).containsExactly("wanted a");
    }

    @Test
    void whatAListenerThrowsDoesNotEndTheWorkOfTheStore() {
        for (Error thrown : List.of(new AssertionError("of the test"), new StackOverflowError())) {
            Throwing listener = new Throwing(thrown);
            late.set(listener);
            assertThatCode(this::reportEverything).doesNotThrowAnyException();
            assertThat(listener.heard)
                    .containsExactly("lost a", "suspect a", "wanted a", "unreachable a", "reachable", "reachable a");
        }
    }

    private void reportEverything() {
        late.lost(GRANT);
        late.suspect(GRANT);
        late.wanted(GRANT);
        late.unreachable("a", new IllegalStateException("away"));
        late.reachable();
        late.reachable("a");
    }

    private static final class Throwing implements StoreListener {
        final List<String> heard = new ArrayList<>();
        private final Error thrown;

        Throwing(Error thrown) {
            this.thrown = thrown;
        }

        private void hear(String what) {
            heard.add(what);
            if (thrown != null) {
                throw thrown;
            }
        }

        @Override
        public void lost(Grant grant) {
            hear("lost " + grant.name());
        }

        @Override
        public void suspect(Grant grant) {
            hear("suspect " + grant.name());
        }

        @Override
        public void wanted(Grant grant) {
            hear("wanted " + grant.name());
        }

        @Override
        public void unreachable(String name, Throwable why) {
            hear("unreachable " + name);
        }

        @Override
        public void reachable() {
            hear("reachable");
        }

        @Override
        public void reachable(String name) {
            hear("reachable " + name);
        }
    }
}
