package dev.holdfast.spring;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * Warns once for each method whose lock is acquired inside a transaction of the caller: the lock is released before that
 * transaction commits, so the next holder does not see what was written.
 */
final class TransactionWarning {
    private static final Log LOG = LogFactory.getLog(TransactionWarning.class);

    private final boolean transactions;
    private final Set<Method> warned = ConcurrentHashMap.newKeySet();

    private TransactionWarning(boolean transactions) {
        this.transactions = transactions;
    }

    static TransactionWarning ofThisApplication() {
        return new TransactionWarning(ClassUtils.isPresent(
                "org.springframework.transaction.support.TransactionSynchronizationManager",
                TransactionWarning.class.getClassLoader()));
    }

    void check(HoldLockMethod method) {
        if (transactions && Active.now() && warned.add(method.method())) {
            LOG.warn(method + " was called inside a transaction of its caller: its lock is released before that"
                    + " transaction commits, and the next holder does not see what was written. Put @HoldLock on the"
                    + " method that begins the transaction.");
        }
    }

    /** Apart, since spring-tx need not be there. */
    private static final class Active {
        static boolean now() {
            return TransactionSynchronizationManager.isActualTransactionActive();
        }
    }
}
