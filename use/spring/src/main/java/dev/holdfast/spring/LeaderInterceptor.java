package dev.holdfast.spring;

import dev.holdfast.Term;
import java.util.Optional;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.function.SingletonSupplier;

/** Runs a call while this application leads; skips it otherwise. */
final class LeaderInterceptor implements MethodInterceptor {
    private final AnnotatedMethods<LeaderOnly, LeaderMethod> methods;
    private final Supplier<Leaderships> leaderships;
    private final CallsInProgress calls;

    LeaderInterceptor(
            AnnotatedMethods<LeaderOnly, LeaderMethod> methods,
            ObjectProvider<Leaderships> leaderships,
            CallsInProgress calls) {
        this.methods = methods;
        this.leaderships = SingletonSupplier.of(leaderships::getObject);
        this.calls = calls;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation call) throws Throwable {
        return calls.untilReturn(() -> runIfLeader(call));
    }

    private @Nullable Object runIfLeader(MethodInvocation call) throws Throwable {
        LeaderMethod method = methods.of(call);
        Leaderships all = leaderships.get();
        Optional<Term> leading = all.term(method.election());
        if (leading.isEmpty()) {
            return Methods.skipped(method.method());
        }
        Term term = leading.get();
        Methods.setArgument(call, method.termParameter(), term);
        Locks.enter(method.method(), term::isValid, term.name(), all.client(method.election()));
        try {
            Object result = call.proceed();
            method.checkFinished(result);
            return result;
        } finally {
            Locks.leave();
        }
    }
}
