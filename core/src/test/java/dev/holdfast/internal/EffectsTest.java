package dev.holdfast.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whatever is to be done is done, however much it is and whatever throws. */
class EffectsTest {
    private final List<Integer> done = new ArrayList<>();
    private final Effects effects = new Effects();

    @Test
    void thousandsAreDoneOneAfterAnother() {
        for (int i = 0; i < 100_000; i++) {
            effects.add(() -> done.add(1));
        }
        effects.run();
        assertThat(done.size()).isEqualTo(100_000);
    }

    @Test
    void whatComesBehindOneThatThrowsIsDoneToo() {
        effects.add(() -> done.add(1));
        effects.add(() -> {
            throw new StackOverflowError("broken");
        });
        effects.add(() -> done.add(2));
        effects.add(() -> {
            throw new IllegalStateException("broken later");
        });
        effects.add(() -> done.add(3));

        assertThatThrownBy(effects::run).isInstanceOf(StackOverflowError.class).hasMessage("broken");
        assertThat(done).containsExactly(1, 2, 3);
    }
}
