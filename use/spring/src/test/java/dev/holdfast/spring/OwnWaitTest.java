package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.LockMode;
import dev.holdfast.spring.boot.HoldfastAutoConfiguration;
import java.time.Duration;
import java.util.List;
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

    @Test
    void onceBelowAHoldOfItsNameIsRefusedAndNotSkipped() {
        application.run(context -> {
            Outer outer = context.getBean(Outer.class);
            assertThatThrownBy(outer::onceBelowHold)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("Inner.onceSame did not run: this thread holds the lock 'same' already");
            assertThatThrownBy(outer::onceKeyBelowHold).hasMessageContaining("'key:7'");
            await().atMost(Duration.ofMinutes(1)).until(() -> outer.leads() != null);
            assertThatThrownBy(outer::onceBelowLeader).hasMessageContaining("'led'");
            assertThat(context.getBean(Inner.class).onceSame()).isEqualTo("ran");
        });
    }

    @Test
    void anAssertionInAMethodThatItsObjectCallsAsksForTheLockOfThatMethod() {
        application.run(context -> {
            Outer outer = context.getBean(Outer.class);
            assertThatThrownBy(outer::callsItself)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("the lock of OwnWaitTest.Outer.asserts is not held here, only [same]")
                    .hasMessageContaining("OwnWaitTest.Outer.callsItself");
            assertThatThrownBy(outer::callsItselfInALambda).hasMessageContaining("is not held here, only [same]");
            assertThatThrownBy(outer::onceCallsItself).hasMessageContaining("is not held here, only [onceCalls]");
        });
    }

    @Test
    void anAssertionInAMethodWithTheSameLockAsItsCallerPasses() {
        application.run(context -> {
            Outer outer = context.getBean(Outer.class);
            assertThat(outer.overloaded()).isEqualTo("held");
            assertThat(outer.callsTheSame()).isEqualTo("held");
            assertThatThrownBy(outer::namesake).hasMessageContaining("is not held here");
            assertThatThrownBy(() -> outer.callsTheSameForAnother(1))
                    .hasMessageContaining("is not held here, only [id:1]");
        });
    }

    @Test
    void anAssertionInAHelperOrAnOverriddenMethodAsksForTheLockOfItsCaller() {
        application.withBean(Special.class).run(context -> {
            assertThat(context.getBean(Outer.class).helped()).isEqualTo("held");
            assertThat(context.getBean(Special.class).run("a")).isEqualTo("held");
        });
    }

    static class General<T> {
        @HoldLock("special")
        public String run(T what) {
            Locks.assertHeld();
            return "held";
        }
    }

    static class Special extends General<String> {
        @Override
        @HoldLock("special")
        public String run(String what) {
            Locks.assertHeld();
            return super.run(what);
        }
    }

    static class Inner {
        @Once(name = "same", every = "365d")
        public String onceSame() {
            return "ran";
        }

        @Once(name = "led", every = "365d")
        public void onceLed() {}

        @Once(name = "key", key = "#{#id}")
        public void onceKey(String id) {}

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

    static class Namesake {
        @HoldLock
        public void namesake() {
            Locks.assertHeld();
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

        @HoldLock("same")
        public void onceBelowHold() {
            inner.onceSame();
        }

        @HoldLock("key:7")
        public void onceKeyBelowHold() {
            inner.onceKey("7");
        }

        @LeaderOnly("led")
        public void onceBelowLeader() {
            inner.onceLed();
        }

        @HoldLock("same")
        public void callsItself() {
            asserts();
        }

        @HoldLock("same")
        public void callsItselfInALambda() {
            List.of(1).forEach(one -> asserts());
        }

        @Once(name = "onceCalls", every = "365d")
        public void onceCallsItself() {
            helped();
        }

        @HoldLock
        public String overloaded() {
            return overloaded("held");
        }

        @HoldLock
        public String overloaded(String said) {
            Locks.assertHeld();
            return said;
        }

        @HoldLock
        public void namesake() {
            new Namesake().namesake();
        }

        @HoldLock("same")
        public String callsTheSame() {
            return helped();
        }

        @HoldLock("id:#{#id}")
        public void callsTheSameForAnother(int id) {
            another(id + 1);
        }

        @HoldLock("id:#{#id}")
        public void another(int id) {
            Locks.assertHeld();
        }

        @HoldLock("same")
        public String helped() {
            Locks.assertHeld();
            List.of(1).forEach(one -> helper());
            return "held";
        }

        private void helper() {
            Locks.assertHeld();
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
