package dev.holdfast.spring;

import dev.holdfast.LockClient;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

/** Notes whether the lock "ledger" is held when a transaction begins and ends. */
class RecordedTransactions extends AbstractPlatformTransactionManager {
    final List<String> seen = new CopyOnWriteArrayList<>();
    private final transient LockClient client;

    RecordedTransactions(LockClient client) {
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

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class Begun {
        @Bean
        RecordedTransactions transactionManager(LockClient client) {
            return new RecordedTransactions(client);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(order = Ordered.HIGHEST_PRECEDENCE)
    static class Inverted {
        @Bean
        RecordedTransactions transactionManager(LockClient client) {
            return new RecordedTransactions(client);
        }
    }
}
