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
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

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
        application.withUserConfiguration(Transactions.class).run(context -> {
            context.getBean(Ledger.class).write();
            assertThat(context.getBean(Recorder.class).seen).containsExactly("begin, held", "commit, held");
            assertThat(output).doesNotContain("before its lock is acquired").doesNotContain("inside a transaction");
        });
    }

    @Test
    void aRollbackAlsoEndsBeforeTheRelease() {
        application.withUserConfiguration(Transactions.class).run(context -> {
            Ledger ledger = context.getBean(Ledger.class);
            assertThat(org.assertj.core.api.Assertions.catchThrowable(ledger::fails))
                    .hasMessage("failed");
            assertThat(context.getBean(Recorder.class).seen).containsExactly("begin, held", "rollback, held");
        });
    }

    @Test
    void anInvertedOrderIsToldAtTheStart(CapturedOutput output) {
        application.withUserConfiguration(InvertedTransactions.class).run(context -> {
            assertThat(output)
                    .contains("Ledger.write begins before its lock is acquired")
                    .doesNotContain("Ledger.unlocked");
            context.getBean(Ledger.class).write();
            assertThat(context.getBean(Recorder.class).seen).containsExactly("begin, free", "commit, free");
        });
    }

    @Test
    void aTransactionOfTheCallerIsToldOnce(CapturedOutput output) {
        application
                .withUserConfiguration(Transactions.class)
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
        @Async
        public CompletableFuture<String> later() {
            Locks.assertHeld("ledger");
            return CompletableFuture.completedFuture(Thread.currentThread().getName());
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

    static class Caller {
        private final Ledger ledger;

        Caller(Ledger ledger) {
            this.ledger = ledger;
        }

        @Transactional
        public void call() {
            ledger.locked();
        }
    }

    /** Notes whether the lock is held when a transaction begins and ends. */
    static class Recorder extends AbstractPlatformTransactionManager {
        final List<String> seen = new CopyOnWriteArrayList<>();
        private final transient LockClient client;

        Recorder(LockClient client) {
            this.client = client;
        }

        private void note(String what) {
            boolean held = client.lock("ledger").status().grant().isPresent();
            seen.add(what + ", " + (held ? "held" : "free"));
        }

        @Override
        protected Object doGetTransaction() {
            return new Object();
        }

        @Override
        protected boolean isExistingTransaction(Object transaction) {
            return false;
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {
            note("begin");
        }

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            note("commit");
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {
            note("rollback");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class Transactions {
        @Bean
        Recorder transactionManager(LockClient client) {
            return new Recorder(client);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(order = Ordered.HIGHEST_PRECEDENCE)
    static class InvertedTransactions {
        @Bean
        Recorder transactionManager(LockClient client) {
            return new Recorder(client);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class Asynchronous {}

    @Configuration(proxyBeanMethods = false)
    @EnableResilientMethods
    static class Retries {}
}
