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
 * recorded as done, before that transaction commits. Not where the method begins a transaction of its own, nor where that of
 * the caller has ended: after the commit Spring shows it as active until its listeners have returned.
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
        if (transactions && !warned.contains(method) && Active.concerns(method) && warned.add(method)) {
            LOG.warn(Methods.title(method) + " was called inside a transaction of its caller: " + early
                    + " before that transaction commits, and the next server does not see what was written. Put the"
                    + " annotation on the method that begins the transaction.");
        }
    }

    /** Apart, since spring-tx need not be there. */
    private static final class Active {
        /** What an application begins transactions by. */
        private static final Set<String> BEGINNERS = Set.of(
                "org.springframework.transaction.interceptor.TransactionAspectSupport",
                "org.springframework.transaction.support.TransactionTemplate");

        static boolean concerns(Method method) {
            return TransactionSynchronizationManager.isActualTransactionActive()
                    && TransactionSynchronizationManager.isSynchronizationActive() // no longer after the completion
                    && !beginsItsOwn(method)
                    && !isAfterCommit();
        }

        /** Whether a listener of a commit is running, and began no transaction of its own. */
        private static boolean isAfterCommit() {
            return StackWalker.getInstance()
                    .walk(frames -> frames.takeWhile(frame -> !BEGINNERS.contains(frame.getClassName()))
                            .anyMatch(frame -> frame.getMethodName().equals("invokeAfterCommit")));
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
