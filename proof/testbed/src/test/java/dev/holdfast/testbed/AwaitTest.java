package dev.holdfast.testbed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class AwaitTest {
    @Test
    void aConditionIsAskedUntilItIsTrue() {
        AtomicInteger asked = new AtomicInteger();
        assertThat(Await.until(Duration.ofSeconds(20), () -> asked.incrementAndGet() == 5))
                .isTrue();
        assertThat(asked).hasValue(5);
    }

    @Test
    void aConditionIsAskedOnceMoreAfterTheDeadline() {
        AtomicInteger asked = new AtomicInteger();
        assertThat(Await.until(Duration.ZERO, () -> asked.incrementAndGet() == 2))
                .isTrue();
    }

    @Test
    void aConditionThatStaysFalseIsGivenUp() {
        assertThat(Await.until(Duration.ofMillis(10), () -> false)).isFalse();
    }

    @Test
    void anInterruptEndsTheWaitAndIsKept() {
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> Await.until(Duration.ofHours(1), () -> false)).isInstanceOf(AssertionError.class);
        assertThat(Thread.interrupted()).isTrue();
    }
}
