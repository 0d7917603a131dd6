package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.spring.boot.HoldfastAutoConfiguration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.core.PriorityOrdered;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionPhase;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Where the lock stands among transactions, other threads and retries. */
@ExtendWith(OutputCaptureExtension.class)
class HoldLockOrderTest {
    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(HoldfastAutoConfiguration.class, LockAnnotationsAutoConfiguration.class))
            .withBean(Ledger.class)
            .withPropertyValues("holdfast.store=mem:");

    @Test
    void theTransactionBeginsAndCommitsWhileTheLockIsHeld(CapturedOutput output) {
        application.withUserConfiguration(RecordedTransactions.Begun.class).run(context -> {
            context.getBean(Ledger.class).write();
            assertThat(context.getBean(RecordedTransactions.class).seen).containsExactly("begin, held", "commit, held");
            assertThat(output).doesNotContain("before its lock is acquired").doesNotContain("inside a transaction");
        });
    }

    @Test
    void aRollbackAlsoEndsBeforeTheRelease() {
        application.withUserConfiguration(RecordedTransactions.Begun.class).run(context -> {
            Ledger ledger = context.getBean(Ledger.class);
            assertThat(org.assertj.core.api.Assertions.catchThrowable(ledger::fails))
                    .hasMessage("failed");
            assertThat(context.getBean(RecordedTransactions.class).seen)
                    .containsExactly("begin, held", "rollback, held");
        });
    }

    @Test
    void anInvertedOrderIsToldAtTheStart(CapturedOutput output) {
        application.withUserConfiguration(RecordedTransactions.Inverted.class).run(context -> {
            assertThat(output)
                    .contains("Ledger.write begins before its lock is acquired")
                    .doesNotContain("Ledger.unlocked");
            context.getBean(Ledger.class).write();
            assertThat(context.getBean(RecordedTransactions.class).seen).containsExactly("begin, free", "commit, free");
        });
    }

    @Test
    void aTransactionOfTheCallerIsToldOnce(CapturedOutput output) {
        application
                .withUserConfiguration(RecordedTransactions.Begun.class)
                .withBean(Caller.class)
                .run(context -> {
                    Caller caller = context.getBean(Caller.class);
                    caller.call();
                    caller.call();
                    assertThat(output.toString().split("Ledger.locked was called inside a transaction", -1))
                            .hasSize(2);
                });
    }

    @Test
    void aMethodWithATransactionOfItsOwnIsRightAlsoInsideThatOfACaller(CapturedOutput output) {
        application
                .withUserConfiguration(RecordedTransactions.Begun.class)
                .withBean(Caller.class)
                .run(context -> {
                    context.getBean(Caller.class).callsAnew();
                    assertThat(output).doesNotContain("was called inside a transaction");
                });
    }

    @Test
    void aListenerOfACommitIsInNoTransactionOfItsCaller(CapturedOutput output) {
        application
                .withUserConfiguration(RecordedTransactions.Begun.class)
                .withBean(Publisher.class)
                .withBean(AfterCommit.class)
                .run(context -> {
                    context.getBean(Publisher.class).publish();
                    assertThat(context.getBean(AfterCommit.class).ran())
                            .containsExactlyInAnyOrder("after the commit", "when committed", "after the completion");
                    assertThat(output).doesNotContain("inside a transaction");
                });
    }

    @Test
    void aTransactionThatAListenerOfACommitBeginsIsTold(CapturedOutput output) {
        application
                .withUserConfiguration(RecordedTransactions.Begun.class)
                .withBean(Publisher.class)
                .withBean(BeginsAnew.class)
                .run(context -> {
                    context.getBean(Publisher.class).publish();
                    assertThat(output).contains("Ledger.locked was called inside a transaction");
                });
    }

    @Test
    void aListenerBeforeTheCommitIsTold(CapturedOutput output) {
        application
                .withUserConfiguration(RecordedTransactions.Begun.class)
                .withBean(Publisher.class)
                .withBean(BeforeCommit.class)
                .run(context -> {
                    context.getBean(Publisher.class).publish();
                    assertThat(output).contains("BeforeCommit.heard was called inside a transaction");
                });
    }

    @Test
    void aBeanThatIsMadeBeforeThereAreProxiesIsTold(CapturedOutput output) {
        application
                .withBean("early", EarlyLedger.class)
                .withBean(NeedsItEarly.class)
                .run(context -> assertThat(output)
                        .contains("EarlyLedger.write has no effect: the bean 'early' is not behind a proxy")
                        .doesNotContain("The annotation on HoldLockOrderTest.Ledger"));
    }

    @Test
    void anAsynchronousCallHoldsTheLockOnItsOwnThread() {
        application.withUserConfiguration(Asynchronous.class).run(context -> {
            LockClient client = context.getBean(LockClient.class);
            CompletableFuture<String> thread;
            try (Hold hold = client.lock("ledger").acquire()) {
                thread = context.getBean(Ledger.class).later();
                assertThat(thread).isNotDone();
                assertThat(hold.isValid()).isTrue();
            }
            assertThat(thread.join()).isNotEqualTo(Thread.currentThread().getName());
        });
    }

    static class Ledger {
        @HoldLock("ledger")
        @Transactional
        public void write() {}

        @Transactional
        public void unlocked() {}

        @HoldLock("ledger")
        @Transactional
        public void fails() {
            throw new IllegalStateException("failed");
        }

        @HoldLock("ledger")
        public void locked() {}

        @HoldLock("ledger")
        @Transactional(propagation = Propagation.REQUIRES_NEW)
        public void writesAnew() {}

        @HoldLock("ledger")
        @Async
        public CompletableFuture<String> later() {
            Locks.assertHeld("ledger");
            return CompletableFuture.completedFuture(Thread.currentThread().getName());
        }
    }

    static class EarlyLedger {
        @HoldLock("ledger")
        public void write() {}
    }

    static class NeedsItEarly implements BeanPostProcessor, BeanFactoryAware, PriorityOrdered {
        @Override
        public void setBeanFactory(BeanFactory beans) {
            beans.getBean(EarlyLedger.class).write();
        }

        @Override
        public int getOrder() {
            return 0;
        }
    }

    static class Caller {
        private final Ledger ledger;

        Caller(Ledger ledger) {
            this.ledger = ledger;
        }

        @Transactional
        public void call() {
            ledger.locked();
        }

        @Transactional
        public void callsAnew() {
            ledger.writesAnew();
        }
    }

    record Published(String what) {}

    static class Publisher {
        private final ApplicationEventPublisher events;

        Publisher(ApplicationEventPublisher events) {
            this.events = events;
        }

        @Transactional
        public void publish() {
            events.publishEvent(new Published("entry"));
        }
    }

    static class AfterCommit {
        private final List<String> ran = new CopyOnWriteArrayList<>();
        private final Ledger ledger;

        AfterCommit(Ledger ledger) {
            this.ledger = ledger;
        }

        List<String> ran() {
            return ran;
        }

        @EventListener
        public void register(Published event) {
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void afterCommit() {
                    ledger.locked();
                    ran.add("after the commit");
                }

                @Override
                public void afterCompletion(int status) {
                    ledger.locked();
                    ran.add("after the completion");
                }
            });
        }

        @TransactionalEventListener
        @HoldLock("committed")
        public void heard(Published event) {
            ran.add("when committed");
        }
    }

    static class BeforeCommit {
        @TransactionalEventListener(phase = TransactionPhase.BEFORE_COMMIT)
        @HoldLock("ledger")
        public void heard(Published event) {}
    }

    static class BeginsAnew {
        private final Ledger ledger;
        private final PlatformTransactionManager transactions;

        BeginsAnew(Ledger ledger, PlatformTransactionManager transactions) {
            this.ledger = ledger;
            this.transactions = transactions;
        }

        @EventListener
        public void register(Published event) {
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void afterCommit() {
                    TransactionTemplate anew = new TransactionTemplate(transactions);
                    anew.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
                    anew.executeWithoutResult(status -> ledger.locked());
                }
            });
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class Asynchronous {}
}
