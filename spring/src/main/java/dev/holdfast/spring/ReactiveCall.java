package dev.holdfast.spring;

import dev.holdfast.Holding;
import java.lang.reflect.Method;
import java.util.Optional;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A call that returns a publisher, or that a proxy runs as one ({@link SuspendingFunctions}): the lock is acquired at each subscription, without blocking a thread, and released
 * when the publisher has completed, failed or was cancelled. The method runs between the two.
 */
final class ReactiveCall {
    private ReactiveCall() {}

    /** Whether calls of the method are such. */
    static boolean isOne(Method method) {
        return SuspendingFunctions.isOne(method) || Methods.isPublisher(method.getReturnType());
    }

    static Object run(MethodInvocation call, HoldLockMethod method, LockRequest request, CallsInProgress calls) {
        ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance()
                .getAdapter(
                        SuspendingFunctions.isOne(method.method())
                                ? Mono.class
                                : method.method().getReturnType());
        if (adapter == null) {
            throw new IllegalStateException("no adapter for " + method);
        }
        LockRequest unbound = request.boundToNoThread();
        Mono<Holding> holding = Mono.fromFuture(unbound::acquireAsync)
                .flatMap(acquired -> acquired.isPresent()
                        ? Mono.<Holding>just(acquired.get())
                        : method.skips() ? Mono.<Holding>empty() : Mono.<Holding>error(method.failure(unbound)))
                .doOnDiscard(Holding.class, Holding::close)
                .doOnDiscard(Optional.class, ReactiveCall::closeIfAcquired);
        // The hold is closed inside the sequence, so that a loss is what the subscriber gets, and nothing wraps it;
        // closing it again when the sequence ends does nothing.
        Publisher<?> held = adapter.isMultiValue()
                ? Flux.usingWhen(
                        holding,
                        hold -> Flux.from(body(call, method, unbound, hold, adapter, calls))
                                .doOnComplete(hold::close),
                        hold -> ended(hold, null, calls),
                        (hold, failure) -> ended(hold, failure, calls),
                        hold -> ended(hold, null, calls))
                : Mono.usingWhen(
                        holding,
                        hold -> Mono.from(body(call, method, unbound, hold, adapter, calls))
                                .doOnSuccess(value -> hold.close()),
                        hold -> ended(hold, null, calls),
                        (hold, failure) -> ended(hold, failure, calls),
                        hold -> ended(hold, null, calls));
        return adapter.fromPublisher(held);
    }

    /** The method's own publisher; made again for each subscription, under the hold of that subscription. */
    private static Publisher<Object> body(
            MethodInvocation call,
            HoldLockMethod method,
            LockRequest request,
            Holding hold,
            ReactiveAdapter adapter,
            CallsInProgress calls) {
        calls.begin();
        MethodInvocation copy = ((ProxyMethodInvocation) call).invocableClone();
        Methods.setArgument(copy, method.holdParameter(), hold);
        Locks.enter(hold, request);
        try {
            // for aspects further inside, which ask for the present invocation
            return adapter.toPublisher(ExposeInvocationInterceptor.INSTANCE.invoke(copy));
        } catch (Throwable failed) {
            return Mono.error(failed);
        } finally {
            Locks.leave();
        }
    }

    /** The answer came when nobody wanted it any more. */
    private static void closeIfAcquired(Optional<?> acquired) {
        acquired.filter(Holding.class::isInstance).map(Holding.class::cast).ifPresent(Holding::close);
    }

    /** Closes the hold where that has not been done; a loss that is found now is added to what failed. */
    private static Mono<Void> ended(Holding holding, @Nullable Throwable failure, CallsInProgress calls) {
        return Mono.fromRunnable(() -> {
            HoldLockInterceptor.closedAfter(holding, failure);
            calls.end();
        });
    }
}
