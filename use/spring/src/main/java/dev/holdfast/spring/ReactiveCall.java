package dev.holdfast.spring;

import dev.holdfast.Holding;
import java.lang.reflect.Method;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.aopalliance.intercept.MethodInvocation;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A call that returns a publisher, or that a proxy runs as one ({@link SuspendingFunctions}): the lock is acquired at each
 * subscription, without blocking a thread, and released when the publisher has completed, failed or was cancelled and
 * nothing of it runs any more ({@link BodyWork}). The method runs between the two.
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
        Mono<Body> running = Mono.fromFuture(() -> acquireAsync(unbound, calls))
                .flatMap(acquired -> acquired.isPresent()
                        ? Mono.just(new Body(acquired.get(), calls))
                        : method.skips() ? Mono.<Body>empty() : Mono.<Body>error(method.failure(unbound)))
                .doOnDiscard(Body.class, body -> body.work.end())
                .doOnDiscard(Optional.class, acquired -> closeIfAcquired(acquired, calls));
        // The hold is closed inside the sequence, so that a loss is what the subscriber gets, and nothing wraps it;
        // closing it again when the sequence ends does nothing.
        Publisher<?> held = adapter.isMultiValue()
                ? Flux.usingWhen(
                        running,
                        body -> Flux.from(body.publisher(call, method, unbound, adapter))
                                .doOnNext(method::checkFinished)
                                .concatWith(body.work.idle())
                                .onErrorResume(body.work::failedWhenIdle)
                                .doOnComplete(body.hold::close)
                                .contextWrite(body.work::in),
                        Body::ended,
                        Body::failed,
                        Body::cancelled)
                : Mono.usingWhen(
                        running,
                        body -> Mono.fromDirect(body.publisher(call, method, unbound, adapter))
                                .doOnNext(method::checkFinished)
                                .delayUntil(value -> body.work.idle())
                                .switchIfEmpty(body.work.idle())
                                .onErrorResume(body.work::failedWhenIdle)
                                .doOnSuccess(value -> body.hold.close())
                                .contextWrite(body.work::in),
                        Body::ended,
                        Body::failed,
                        Body::cancelled);
        return adapter.fromPublisher(held);
    }

    /** The method's body in one subscription, under the hold of that. */
    private static final class Body {
        private final Holding hold;
        private final BodyWork work;

        Body(Holding hold, CallsInProgress calls) {
            this.hold = hold;
            this.work = new BodyWork(() -> {
                HoldLockInterceptor.closedAfter(hold, null);
                calls.end();
            });
        }

        /** The method's own publisher. */
        Publisher<Object> publisher(
                MethodInvocation call, HoldLockMethod method, LockRequest request, ReactiveAdapter adapter) {
            MethodInvocation copy = ((ProxyMethodInvocation) call).invocableClone();
            Methods.setArgument(copy, method.holdParameter(), hold);
            if (SuspendingFunctions.isOne(method.method())) {
                CoroutineEnd.watch(copy, work);
            }
            Locks.enter(method.method(), hold, request);
            try {
                // for aspects further inside, which ask for the present invocation
                Publisher<Object> own = adapter.toPublisher(ExposeInvocationInterceptor.INSTANCE.invoke(copy));
                return subscriber -> work.subscribe(own, subscriber);
            } catch (Throwable failed) {
                return Mono.error(failed);
            } finally {
                Locks.leave();
            }
        }

        Mono<Void> ended() {
            return Mono.fromRunnable(work::end);
        }

        /** Closes the hold; a loss that is found now is added to the failure. */
        Mono<Void> failed(Throwable failure) {
            return Mono.fromRunnable(() -> {
                HoldLockInterceptor.closedAfter(hold, failure);
                work.end();
            });
        }

        /** The hold is closed when what still runs has ended. */
        Mono<Void> cancelled() {
            return Mono.fromRunnable(work::cancel);
        }
    }

    /** In progress until its end is without a hold, or the hold is closed. */
    private static CompletableFuture<? extends Optional<? extends Holding>> acquireAsync(
            LockRequest request, CallsInProgress calls) {
        CompletableFuture<? extends Optional<? extends Holding>> asked = request.acquireAsync();
        calls.begin();
        asked.whenComplete((acquired, failure) -> {
            if (failure != null || acquired.isEmpty()) {
                calls.end();
            }
        });
        return asked;
    }

    /** The answer came when nobody wanted it any more. */
    private static void closeIfAcquired(Optional<?> acquired, CallsInProgress calls) {
        acquired.filter(Holding.class::isInstance).map(Holding.class::cast).ifPresent(hold -> {
            HoldLockInterceptor.closedAfter(hold, null);
            calls.end();
        });
    }
}
