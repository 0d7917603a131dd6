package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.LockMode;
import dev.holdfast.spring.boot.HoldfastAutoConfiguration;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** A thread that would wait for what it holds itself is told so, whatever annotation acquired it. */
class OwnWaitTest {
    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(HoldfastAutoConfiguration.class, LockAnnotationsAutoConfiguration.class))
            .withBean(Inner.class)
            .withBean(Outer.class)
            .withPropertyValues("holdfast.store=mem:");

    @Test
    void aMethodBelowOnceThatWantsTheSameLockIsTold() {
        application.run(context -> {
            assertThatThrownBy(() -> context.getBean(Outer.class).once())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("would wait for itself");
            context.getBean(Inner.class).shared(); // nothing is left behind
        });
    }

    @Test
    void aMethodBelowLeaderOnlyThatWantsTheSameLockIsTold() {
        application.run(context -> {
            Outer outer = context.getBean(Outer.class);
            await().atMost(Duration.ofMinutes(1)).until(() -> outer.leads() != null);
            assertThatThrownBy(outer::leader)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("would wait for itself");
        });
    }

    @Test
    void theLockOfOnceIsHeldForTheAssertionButIsNoHoldThatTheBodyCouldClose() {
        application.run(
                context -> assertThat(context.getBean(Outer.class).asserts()).isEqualTo("held, no hold"));
    }

    @Test
    void aClientIsTheSameByWhateverNameItIsCalled() {
        application.run(
                context -> assertThatThrownBy(() -> context.getBean(Outer.class).byName())
                        .hasMessageContaining("would wait for itself"));
    }

    @Test
    void theLastPermitCannotBeAcquiredTwice() {
        application.run(
                context -> assertThatThrownBy(() -> context.getBean(Outer.class).permit())
                        .hasMessageContaining("would wait for itself"));
    }

    @Test
    void otherPermitsCan() {
        application.run(
                context -> assertThat(context.getBean(Outer.class).permits()).isTrue());
    }

    static class Inner {
        @HoldLock("same")
        public void same() {}

        @HoldLock("led")
        public void led() {}

        @HoldLock(value = "same", client = "lockClient")
        public void sameByName() {}

        @HoldLock(name = "same", mode = LockMode.SHARED)
        public void shared() {}

        @HoldLock(name = "one", mode = LockMode.PERMITS, permits = 1)
        public boolean one() {
            return true;
        }

        @HoldLock(name = "two", mode = LockMode.PERMITS, permits = 2)
        public boolean two() {
            return true;
        }
    }

    static class Outer {
        private final Inner inner;

        Outer(Inner inner) {
            this.inner = inner;
        }

        @Once(name = "same", every = "365d")
        public void once() {
            inner.same();
        }

        @LeaderOnly("led")
        public String leads() {
            return "leads";
        }

        @LeaderOnly("led")
        public void leader() {
            inner.led();
        }

        @Once(name = "asserts", every = "365d")
        public String asserts() {
            Locks.assertHeld();
            Locks.assertHeld("asserts");
            return Locks.current().isPresent() ? "held, a hold" : "held, no hold";
        }

        @HoldLock("same")
        public void byName() {
            inner.sameByName();
        }

        @HoldLock(name = "one", mode = LockMode.PERMITS, permits = 1)
        public boolean permit() {
            return inner.one();
        }

        @HoldLock(name = "two", mode = LockMode.PERMITS, permits = 2)
        public boolean permits() {
            return inner.two();
        }
    }
}
