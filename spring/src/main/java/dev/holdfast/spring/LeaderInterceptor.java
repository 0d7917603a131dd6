package dev.holdfast.spring;

import dev.holdfast.Term;
import java.util.Optional;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;

/** Runs a call while this application leads; skips it otherwise. */
final class LeaderInterceptor implements MethodInterceptor {
    private final AnnotatedMethods<LeaderOnly, LeaderMethod> methods;
    private final ObjectProvider<Leaderships> leaderships;

    LeaderInterceptor(AnnotatedMethods<LeaderOnly, LeaderMethod> methods, ObjectProvider<Leaderships> leaderships) {
        this.methods = methods;
        this.leaderships = leaderships;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation call) throws Throwable {
        LeaderMethod method = methods.of(call);
        Optional<Term> term = leaderships.getObject().term(method.election());
        if (term.isEmpty()) {
            return Methods.skipped(method.method());
        }
        Methods.setArgument(call, method.termParameter(), term.get());
        return call.proceed();
    }
}
