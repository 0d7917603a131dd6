package dev.holdfast.spring;

import org.aopalliance.aop.Advice;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.core.Ordered;

/**
 * Where the annotations stand among the other advisors of a bean, from outside to inside: leadership, once, lock, then
 * transactions and caches, whose default order is the last one. Method security stands outside, and so do
 * {@code @Async} and {@code @Retryable}, which Spring puts before all advisors.
 */
final class Advisors {
    static final int LEADER = Ordered.LOWEST_PRECEDENCE - 300;
    static final int ONCE = Ordered.LOWEST_PRECEDENCE - 200;
    static final int HOLD = Ordered.LOWEST_PRECEDENCE - 100;

    private Advisors() {}

    static PointcutAdvisor of(Pointcut methods, Advice advice, int order) {
        DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(methods, advice);
        advisor.setOrder(order);
        return advisor;
    }
}
