package dev.holdfast.spring;

import dev.holdfast.Holding;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Runs a call while its lock is held.
 *
 * <pre>
 *   evaluate the names ──► acquire ──► the transaction begins, the method runs, commit ──► release
 *                            │                                                 │
 *                            └─ not in time: throw, or skip                    └─ lost meanwhile: the caller gets
 *                                                                                 HoldLostException
 * </pre>
 */
final class HoldLockInterceptor implements MethodInterceptor {
    static final boolean REACTOR =
            ClassUtils.isPresent("reactor.core.publisher.Flux", HoldLockInterceptor.class.getClassLoader());

    private final AnnotatedMethods<HoldLock, HoldLockMethod> methods;
    private final Supplier<LockClients> clients;
    private final CallsInProgress calls;
    private final TransactionWarning warning = TransactionWarning.ofThisApplication();

    HoldLockInterceptor(
            AnnotatedMethods<HoldLock, HoldLockMethod> methods,
            ObjectProvider<LockClients> clients,
            CallsInProgress calls) {
        this.methods = methods;
        this.clients = SingletonSupplier.of(clients::getObject);
        this.calls = calls;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation call) throws Throwable {
        HoldLockMethod method = methods.of(call);
        LockRequest written = method.request(call, clients.get());
        if (REACTOR && ReactiveCall.isOne(method.method())) {
            return ReactiveCall.run(call, method, written, calls);
        }
        boolean outlivesTheCall = CompletionStage.class.isAssignableFrom(
                        method.method().getReturnType())
                // the value may be a future; where the thread must close its hold, or wait then, that is refused
                || method.method().getReturnType() == Object.class && written.boundToNoThread() == written;
        LockRequest request = outlivesTheCall ? written.boundToNoThread() : written;
        warning.check(method.method(), "its lock is released");
        checkOwnWait(method, request);
        return calls.untilReturn(() -> {
            Optional<? extends Holding> acquired = acquire(method, request);
            if (acquired.isEmpty()) {
                return method.notAcquired(request);
            }
            Holding holding = acquired.get();
            Methods.setArgument(call, method.holdParameter(), holding);
            return outlivesTheCall
                    ? untilCompletion(call, method, request, holding)
                    : untilReturn(call, method, request, holding);
        });
    }

    private static Optional<? extends Holding> acquire(HoldLockMethod method, LockRequest request) {
        try {
            return request.acquire();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new LockNotAcquiredException(
                    method + " did not run: the thread was interrupted while it waited for the lock " + request.names(),
                    interrupted);
        }
    }

    /** A thread that holds the lock already would wait for itself, for ever or in vain. */
    private static void checkOwnWait(HoldLockMethod method, LockRequest request) {
        boolean waits = !Duration.ZERO.equals(request.patience());
        if (waits && Locks.wouldWaitForItself(request)) {
            throw new IllegalStateException(method + " did not run: this thread holds the lock " + request.names()
                    + " already and would wait for itself; take @HoldLock off the inner method, or set"
                    + " holdfast.hold.reentrant=true");
        }
    }

    private static @Nullable Object untilReturn(
            MethodInvocation call, HoldLockMethod method, LockRequest request, Holding holding) throws Throwable {
        try (holding) {
            Object result = proceed(call, method, request, holding);
            method.checkFinished(result);
            return result;
        }
    }

    private @Nullable Object untilCompletion(
            MethodInvocation call, HoldLockMethod method, LockRequest request, Holding holding) throws Throwable {
        Object result;
        try {
            result = proceed(call, method, request, holding);
            if (!(result instanceof CompletionStage)) {
                method.checkFinished(result);
            }
        } catch (Throwable failed) {
            closedAfter(holding, failed);
            throw failed;
        }
        if (!(result instanceof CompletionStage<?> stage)) {
            holding.close();
            return result;
        }
        calls.begin();
        // A cancelled result does not release: cancelling a future stops no work.
        CompletableFuture<@Nullable Object> released = new CompletableFuture<>();
        stage.whenComplete((value, failure) -> {
            Throwable outcome = closedAfter(holding, failure == null ? unfinished(method, value) : failure);
            calls.end();
            if (outcome == null) {
                released.complete(value);
            } else {
                released.completeExceptionally(outcome);
            }
        });
        return released;
    }

    private static @Nullable Throwable unfinished(HoldLockMethod method, @Nullable Object value) {
        try {
            method.checkFinished(value);
            return null;
        } catch (Throwable refused) { // also what the value itself throws: its caller would wait for ever
            return refused;
        }
    }

    /** Closes the hold; what the caller is told: the loss of it where nothing else failed, null if nothing did. */
    static @Nullable Throwable closedAfter(Holding holding, @Nullable Throwable failure) {
        try {
            holding.close();
            return failure;
        } catch (RuntimeException | Error lost) {
            if (failure == null) {
                return lost;
            }
            failure.addSuppressed(lost);
            return failure;
        }
    }

    private static @Nullable Object proceed(
            MethodInvocation call, HoldLockMethod method, LockRequest request, Holding holding) throws Throwable {
        Locks.enter(method.method(), holding, request);
        try {
            return call.proceed();
        } finally {
            Locks.leave();
        }
    }
}
