package dev.holdfast.spring;

import dev.holdfast.LockClient;
import dev.holdfast.OnceResult;
import dev.holdfast.OnceTurn;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.function.SingletonSupplier;

/** Runs a call if no other server runs it or has run it; skips it otherwise. */
final class OnceInterceptor implements MethodInterceptor {
    private static final Log LOG = LogFactory.getLog(OnceInterceptor.class);

    private final AnnotatedMethods<Once, OnceMethod> methods;
    private final Supplier<LockClients> clients;
    private final CallsInProgress calls;
    private final Map<OnceMethod, dev.holdfast.Once> periodic = new ConcurrentHashMap<>();
    private final TransactionWarning warning = TransactionWarning.ofThisApplication();

    OnceInterceptor(
            AnnotatedMethods<Once, OnceMethod> methods, ObjectProvider<LockClients> clients, CallsInProgress calls) {
        this.methods = methods;
        this.clients = SingletonSupplier.of(clients::getObject);
        this.calls = calls;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation call) throws Throwable {
        OnceMethod method = methods.of(call);
        LockClient client = clients.get().client(method.client());
        warning.check(method.method(), "its work is recorded as done");
        String name = method.name(call);
        if (Locks.isHeld(name, client)) {
            throw new IllegalStateException(method + " did not run: this thread holds the lock '" + name
                    + "' already, so the work would count as running elsewhere and be skipped; give the method around it"
                    + " another lock, or take @Once off");
        }
        return calls.untilReturn(() -> run(once(method, name, client), new Work(call, method, client)));
    }

    /** One for all calls of a method with periods: it reports once that other servers have other ones. */
    private dev.holdfast.Once once(OnceMethod method, String name, LockClient client) {
        return method.isKeyed()
                ? client.once(name, method.options())
                : periodic.computeIfAbsent(method, first -> client.once(name, first.options()));
    }

    private static @Nullable Object run(dev.holdfast.Once once, Work work) throws Throwable {
        OnceResult result = once.run(work::run);
        if (result instanceof OnceResult.Failed failed) {
            throw work.failure == null ? failed.cause() : work.failure;
        }
        if (result instanceof OnceResult.Ran ran) {
            ran.loss().ifPresent(lost -> LOG.warn(result.message()));
            return work.value;
        }
        LOG.debug(result.message());
        return Methods.skipped(work.method.method());
    }

    /** The call as work of one turn. */
    private static final class Work {
        private final MethodInvocation call;
        private final OnceMethod method;
        private final LockClient client;
        private @Nullable Object value;
        private @Nullable Throwable failure;

        Work(MethodInvocation call, OnceMethod method, LockClient client) {
            this.call = call;
            this.method = method;
            this.client = client;
        }

        void run(OnceTurn turn) throws Exception {
            Methods.setArgument(call, method.turnParameter(), turn);
            Locks.enter(method.method(), turn::isValid, turn.name(), client);
            try {
                value = call.proceed();
                method.checkFinished(value);
            } catch (Exception | Error failed) {
                failure = failed;
                throw failed;
            } catch (Throwable failed) {
                failure = failed;
                throw new IllegalStateException(failed);
            } finally {
                Locks.leave();
            }
        }
    }
}
