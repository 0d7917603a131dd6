package dev.holdfast.spring;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * Warns once for each method whose lock is acquired inside a transaction of the caller: the lock is released, or the work
 * recorded as done, before that transaction commits. Not where the method begins a transaction of its own.
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

    /**
     * Called before the lock is acquired.
     *
     * @param early what happens before the caller's commit
     */
    void check(Method method, String early) {
        if (transactions && Active.concerns(method) && warned.add(method)) {
            LOG.warn(Methods.title(method) + " was called inside a transaction of its caller: " + early
                    + " before that transaction commits, and the next server does not see what was written. Put the"
                    + " annotation on the method that begins the transaction.");
        }
    }

    /** Apart, since spring-tx need not be there. */
    private static final class Active {
        static boolean concerns(Method method) {
            return TransactionSynchronizationManager.isActualTransactionActive() && !beginsItsOwn(method);
        }

        private static boolean beginsItsOwn(Method method) {
            Transactional said = AnnotatedElementUtils.findMergedAnnotation(method, Transactional.class);
            if (said == null) {
                said = AnnotatedElementUtils.findMergedAnnotation(method.getDeclaringClass(), Transactional.class);
            }
            return said != null && said.propagation() == Propagation.REQUIRES_NEW;
        }
    }
}
