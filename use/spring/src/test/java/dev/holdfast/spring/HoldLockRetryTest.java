package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.spring.boot.HoldfastAutoConfiguration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;

/** Where the lock stands among the attempts of a retry. Apart, since Spring Framework 6 has no retries. */
class HoldLockRetryTest {
    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(HoldfastAutoConfiguration.class, LockAnnotationsAutoConfiguration.class))
            .withBean(Ledger.class)
            .withPropertyValues("holdfast.store=mem:");

    @Test
    void everyAttemptOfARetryAcquiresTheLockForItself() {
        application.withUserConfiguration(Retries.class).run(context -> {
            Ledger ledger = context.getBean(Ledger.class);
            ledger.retried(null);
            assertThat(ledger.tokens()).hasSize(2).doesNotHaveDuplicates().isSorted();
        });
    }

    static class Ledger {
        private final List<Long> tokens = new CopyOnWriteArrayList<>();

        List<Long> tokens() {
            return tokens;
        }

        @HoldLock("ledger")
        @Retryable(delay = 1)
        public void retried(Hold hold) {
            tokens.add(hold.token());
            if (tokens.size() == 1) {
                throw new IllegalStateException("the first attempt fails");
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableResilientMethods
    static class Retries {}
}
