package dev.holdfast.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whatever is to be done is done, however much it is and whatever throws. */
class DeferredTest {
    private final List<Integer> done = new ArrayList<>();

    @Test
    void thousandsAreDoneOneAfterAnother() {
        Deferred.all(Collections.nCopies(100_000, () -> done.add(1))).run();
        assertThat(done.size()).isEqualTo(100_000);
    }

    @Test
    void whatComesBehindOneThatThrowsIsDoneToo() {
        Runnable broken = () -> {
            throw new IllegalStateException("broken");
        };
        Runnable all = Deferred.all(List.of(() -> done.add(1), broken, () -> done.add(2), broken, () -> done.add(3)));
        assertThatThrownBy(Deferred.both(all, () -> done.add(4))::run)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("broken");
        assertThat(done).containsExactly(1, 2, 3, 4);
    }
}
