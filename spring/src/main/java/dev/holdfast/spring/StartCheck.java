package dev.holdfast.spring;

import java.lang.reflect.Method;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Looks at the beans once all are there: every method's lock client exists, and no transaction begins before its lock is
 * acquired.
 */
final class StartCheck implements SmartInitializingSingleton {
    private static final Log LOG = LogFactory.getLog(StartCheck.class);
    private static final String TRANSACTION = "org.springframework.transaction.interceptor.TransactionInterceptor";

    private final ConfigurableListableBeanFactory beans;
    private final AnnotatedMethods<HoldLock, HoldLockMethod> methods;
    private final AnnotatedMethods<Once, OnceMethod> onceMethods;
    private final LockClients clients;

    StartCheck(
            ConfigurableListableBeanFactory beans,
            AnnotatedMethods<HoldLock, HoldLockMethod> methods,
            AnnotatedMethods<Once, OnceMethod> onceMethods,
            LockClients clients) {
        this.beans = beans;
        this.methods = methods;
        this.onceMethods = onceMethods;
        this.clients = clients;
    }

    @Override
    public void afterSingletonsInstantiated() {
        methods.all().forEach(method -> checkClient("@HoldLock on " + method, method.client()));
        onceMethods.all().forEach(method -> checkClient("@Once on " + method, method.client()));
        onceMethods.all().forEach(this::refuseSameLock);
        for (String name : beans.getSingletonNames()) {
            if (beans.getSingleton(name) instanceof Advised advised) {
                checkOrder(advised);
            }
        }
    }

    private void refuseSameLock(OnceMethod once) {
        methods.all()
                .filter(held -> held.method().equals(once.method())
                        && held.constantNames().stream().anyMatch(once::holds))
                .forEach(held -> {
                    throw new IllegalStateException("@Once and @HoldLock on " + held + " have the same name, so a call"
                            + " would wait for itself; @Once holds that lock already: leave @HoldLock out, or give it"
                            + " another name");
                });
    }

    private void checkClient(String place, String client) {
        try {
            clients.client(client);
        } catch (IllegalStateException unclear) {
            throw new IllegalStateException(place + ": " + unclear.getMessage(), unclear);
        }
    }

    private void checkOrder(Advised advised) {
        Class<?> type = advised.getTargetClass();
        if (type != null) {
            methods.of(type).values().forEach(method -> checkOrder(advised, type, method));
        }
    }

    private static void checkOrder(Advised advised, Class<?> type, HoldLockMethod method) {
        boolean inTransaction = false;
        for (Advisor advisor : advised.getAdvisors()) {
            if (advisor.getAdvice() instanceof HoldLockInterceptor) {
                break;
            }
            inTransaction |= isTransaction(advisor, method.method(), type);
        }
        if (inTransaction) {
            LOG.warn("The transaction of " + method + " begins before its lock is acquired, and the lock is released"
                    + " before the commit: the next holder does not see what was written. Remove the order of"
                    + " @EnableTransactionManagement, or set one above " + Advisors.HOLD + ".");
        }
    }

    private static boolean isTransaction(Advisor advisor, Method method, Class<?> type) {
        return advisor instanceof PointcutAdvisor pointed
                && hasSuperclass(pointed.getAdvice().getClass(), TRANSACTION)
                && pointed.getPointcut().getMethodMatcher().matches(method, type);
    }

    private static boolean hasSuperclass(Class<?> type, String name) {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            if (each.getName().equals(name)) {
                return true;
            }
        }
        return false;
    }
}
