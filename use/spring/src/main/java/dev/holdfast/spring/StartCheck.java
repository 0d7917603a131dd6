package dev.holdfast.spring;

import java.lang.reflect.Method;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * Looks at the beans once all are there: every method's lock client exists, no transaction begins before its lock is
 * acquired, and timers count in the zone of their periods.
 */
final class StartCheck implements SmartInitializingSingleton {
    private static final Log LOG = LogFactory.getLog(StartCheck.class);
    private static final String TRANSACTION = "org.springframework.transaction.interceptor.TransactionInterceptor";

    private final ConfigurableListableBeanFactory beans;
    private final AnnotatedMethods<HoldLock, HoldLockMethod> methods;
    private final AnnotatedMethods<Once, OnceMethod> onceMethods;
    private final AnnotatedMethods<LeaderOnly, LeaderMethod> leaderMethods;
    private final LockClients clients;

    StartCheck(
            ConfigurableListableBeanFactory beans,
            AnnotatedMethods<HoldLock, HoldLockMethod> methods,
            AnnotatedMethods<Once, OnceMethod> onceMethods,
            AnnotatedMethods<LeaderOnly, LeaderMethod> leaderMethods,
            LockClients clients) {
        this.beans = beans;
        this.methods = methods;
        this.onceMethods = onceMethods;
        this.leaderMethods = leaderMethods;
        this.clients = clients;
    }

    @Override
    public void afterSingletonsInstantiated() {
        methods.all().forEach(method -> checkClient("@HoldLock on " + method, method.client()));
        onceMethods.all().forEach(method -> checkClient("@Once on " + method, method.client()));
        leaderMethods
                .all()
                .forEach(method -> checkClient(
                        "@LeaderOnly on " + Methods.title(method.method()),
                        method.election().client()));
        onceMethods.all().forEach(once -> refuseSameLock(once.method(), "Once", once::holds));
        leaderMethods
                .all()
                .forEach(leader -> refuseSameLock(
                        leader.method(),
                        "LeaderOnly",
                        lock -> leader.election().name().equals(lock)));
        refuseSameWork();
        warnOfTwoZones();
        Map<String, String> seen = new HashMap<>();
        Set<Object> distinct = Collections.newSetFromMap(new IdentityHashMap<>()); // one may have several names
        for (String name : beans.getSingletonNames()) {
            Object bean = beans.getSingleton(name);
            if (bean != null && distinct.add(bean)) {
                refuseSameClass(name, AopUtils.getTargetClass(bean), seen);
            }
            if (bean instanceof Advised advised) {
                checkOrder(advised);
            } else if (bean != null && !AopUtils.isAopProxy(bean)) {
                warnOfNoProxy(name, bean.getClass());
            }
        }
    }

    private void refuseSameLock(Method method, String annotation, Predicate<String> holds) {
        methods.all()
                .filter(held -> held.method().equals(method)
                        && held.constantNames().stream().anyMatch(holds))
                .forEach(held -> {
                    throw new AnnotationRefusedException("@" + annotation + " and @HoldLock on " + held
                            + " have the same name, so a call would wait for itself; @" + annotation
                            + " holds that lock already: leave @HoldLock out, or give it another name");
                });
    }

    /** Two methods of one class with one name would be one piece of work: the second would never run. */
    private void refuseSameWork() {
        Map<List<String>, OnceMethod> known = new HashMap<>();
        onceMethods.all().forEach(once -> {
            OnceMethod other = known.put(List.of(once.client(), once.workName()), once);
            if (other != null
                    && !other.method().equals(once.method())
                    && other.method().getDeclaringClass() == once.method().getDeclaringClass()) {
                throw new AnnotationRefusedException("@Once on " + other + " and @Once on " + once
                        + " have the same name '" + once.workName()
                        + "', so only one of them would run; give each a name of its own");
            }
            onceMethods.all().filter(once::mayBeNamedByKeyOf).forEach(keyed -> {
                throw new AnnotationRefusedException("@Once on " + once + " has the name '" + once.workName()
                        + "', which @Once on " + keyed + " uses for one of its keys, so only one of them would run;"
                        + " give one of them another name");
            });
        });
    }

    /** A timer in the zone of its server, and periods that all servers count in UTC. */
    private void warnOfTwoZones() {
        String zone = ZoneId.systemDefault().normalized().equals(ZoneOffset.UTC)
                ? ""
                : ZoneId.systemDefault().getId();
        String all = onceMethods
                .all()
                .filter(once -> !zone.isEmpty() && once.isCountedInUtc())
                .filter(once ->
                        AnnotatedElementUtils.findMergedRepeatableAnnotations(once.method(), Scheduled.class).stream()
                                .anyMatch(timer -> OnceMethod.isOn(resolved(timer.cron()))
                                        && resolved(timer.zone()).isEmpty()))
                .map(OnceMethod::toString)
                .sorted()
                .collect(Collectors.joining(", "));
        if (!all.isEmpty()) {
            LOG.warn("@Scheduled on " + all + " counts in the zone of this server, " + zone
                    + ", and @Once beside it in UTC: work near the end of a period may run twice, or not at all. Name"
                    + " the same zone in both.");
        }
    }

    private String resolved(String text) {
        String value = beans.resolveEmbeddedValue(text);
        return value == null ? "" : value;
    }

    /** Two beans of one class would be one piece of work, too. A name that is written may say that on purpose. */
    private void refuseSameClass(String bean, Class<?> type, Map<String, String> seen) {
        onceMethods.of(type).values().stream().filter(OnceMethod::isUnnamed).forEach(once -> {
            String other = seen.putIfAbsent(once.workName(), bean);
            if (other != null && !other.equals(bean)) {
                throw new AnnotationRefusedException("@Once on " + once + " has no name, and the beans '" + other
                        + "' and '" + bean
                        + "' share its class, so only one of them would run; make a class for each, or"
                        + " write a name if it is one piece of work");
            }
        });
    }

    private void checkClient(String place, String client) {
        try {
            clients.client(client);
        } catch (IllegalStateException unclear) {
            throw new AnnotationRefusedException(place + ": " + unclear.getMessage(), unclear);
        }
    }

    /** A bean that something early needs is made before beans get proxies; so are mocks, on purpose. */
    private void warnOfNoProxy(String name, Class<?> type) {
        Stream.of(methods, onceMethods, leaderMethods)
                .flatMap(annotated -> annotated.of(type).keySet().stream())
                .distinct()
                .filter(method -> !type.getName().contains("Mockito"))
                .forEach(method -> LOG.warn("The annotation on " + Methods.title(method)
                        + " has no effect: the bean '" + name + "' is not behind a proxy, because it was made before"
                        + " proxies could be; see which BeanPostProcessor needs it so early"));
    }

    private void checkOrder(Advised advised) {
        Class<?> type = advised.getTargetClass();
        if (type != null) {
            methods.of(type).keySet().forEach(method -> checkOrder(advised, type, method, HoldLockInterceptor.class));
            onceMethods.of(type).keySet().forEach(method -> checkOrder(advised, type, method, OnceInterceptor.class));
        }
    }

    private static void checkOrder(Advised advised, Class<?> type, Method method, Class<?> locking) {
        boolean inTransaction = false;
        for (Advisor advisor : advised.getAdvisors()) {
            if (locking.isInstance(advisor.getAdvice())) {
                break;
            }
            inTransaction |= isTransaction(advisor, method, type);
        }
        if (inTransaction) {
            LOG.warn("The transaction of " + Methods.title(method) + " begins before its lock is acquired, and the lock"
                    + " is released before the commit: the next holder does not see what was written. Remove the order"
                    + " of @EnableTransactionManagement, or set one above " + Advisors.HOLD + ".");
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
