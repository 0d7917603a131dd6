package dev.holdfast.spring;

import dev.holdfast.Holding;
import dev.holdfast.LockClient;
import java.lang.reflect.Method;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.aopalliance.intercept.MethodInvocation;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A call that returns a publisher: the lock is acquired at each subscription, without blocking a thread, and released
 * when the publisher has completed, failed or was cancelled. The method runs between the two.
 */
final class ReactiveCall {
    private ReactiveCall() {}

    /** Whether calls of the method are such. */
    static boolean isOne(Method method) {
        Class<?> type = method.getReturnType();
        return !CompletionStage.class.isAssignableFrom(type)
                && ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
    }

    static Object run(MethodInvocation call, HoldLockMethod method, LockRequest request, LockClient client) {
        ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance()
                .getAdapter(method.method().getReturnType());
        if (adapter == null) {
            throw new IllegalStateException("no adapter for " + method);
        }
        LockRequest unbound = request.boundToNoThread();
        Mono<Holding> holding = Mono.fromFuture(() -> unbound.acquireAsync(client))
                .flatMap(acquired -> acquired.isPresent()
                        ? Mono.<Holding>just(acquired.get())
                        : method.skips() ? Mono.<Holding>empty() : Mono.<Holding>error(method.failure(unbound)))
                .doOnDiscard(Holding.class, Holding::close)
                .doOnDiscard(Optional.class, ReactiveCall::closeIfAcquired);
        Publisher<?> held = adapter.isMultiValue()
                ? Flux.usingWhen(
                        holding,
                        hold -> body(call, method, unbound, hold, adapter),
                        ReactiveCall::close,
                        (hold, failure) -> close(hold),
                        ReactiveCall::close)
                : Mono.usingWhen(
                        holding,
                        hold -> Mono.from(body(call, method, unbound, hold, adapter)),
                        ReactiveCall::close,
                        (hold, failure) -> close(hold),
                        ReactiveCall::close);
        return adapter.fromPublisher(held);
    }

    /** The method's own publisher; made anew for each subscription, under the hold of that subscription. */
    private static Publisher<Object> body(
            MethodInvocation call, HoldLockMethod method, LockRequest request, Holding hold, ReactiveAdapter adapter) {
        MethodInvocation copy = ((ProxyMethodInvocation) call).invocableClone();
        Methods.setArgument(copy, method.holdParameter(), hold);
        try {
            return adapter.toPublisher(HoldLockInterceptor.proceed(copy, request, hold));
        } catch (Throwable failed) {
            return Mono.error(failed);
        }
    }

    /** The answer came when nobody wanted it any more. */
    private static void closeIfAcquired(Optional<?> acquired) {
        acquired.filter(Holding.class::isInstance).map(Holding.class::cast).ifPresent(Holding::close);
    }

    private static Mono<Void> close(Holding holding) {
        return Mono.fromRunnable(holding::close);
    }
}
