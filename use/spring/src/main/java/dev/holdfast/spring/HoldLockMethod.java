package dev.holdfast.spring;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.Holding;
import dev.holdfast.LockMode;
import dev.holdfast.MultiHold;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;

/** What {@link HoldLock} says of one method; read and checked at the start. */
final class HoldLockMethod {
    private static final String ANNOTATION = "HoldLock";

    private final Method method;
    private final NameTemplates names;
    private final LockMode mode;
    private final int permits;
    private final @Nullable Duration patience;
    private final @Nullable Duration lease;
    private final String client;
    private final boolean skips;
    private final int holdParameter;

    private HoldLockMethod(Class<?> type, Method method, HoldLock said, Texts texts) {
        this.method = method;
        List<String> written = Arrays.stream(said.name()).map(texts::resolve).toList();
        this.names = new NameTemplates(
                written.isEmpty() ? List.of(Methods.defaultName(type, method)) : written, method, texts.resolver());
        this.mode = said.mode();
        this.permits = said.permits();
        this.patience = texts.duration(said.waitTime());
        this.lease = texts.duration(said.lease());
        this.client = texts.resolve(said.client());
        this.skips = said.notAcquired() == NotAcquired.SKIP;
        this.holdParameter = Methods.parameterOf(method, Hold.class, MultiHold.class, Holding.class);
    }

    /**
     * Reads the annotation.
     *
     * @throws IllegalStateException if what it says cannot be
     */
    static HoldLockMethod read(Class<?> type, Method method, HoldLock said, Texts texts) {
        HoldLockMethod read = new HoldLockMethod(type, method, said, texts);
        read.check(type);
        return read;
    }

    private void check(Class<?> bean) {
        if (patience != null && patience.isNegative()) {
            throw refused("waits for a negative time; set waitTime = \"0s\" to ask once");
        }
        if (lease != null) {
            HoldOptions.defaults().lease(lease); // checks it
        }
        if (skips && patience == null) {
            throw refused(
                    "skips a call that could not get its lock, but waits for ever; set waitTime, \"0s\" asks once");
        }
        if (SuspendingFunctions.isOne(method)) {
            SuspendingFunctions.checkCompletes(bean, method, ANNOTATION);
        }
        if (skips) {
            Methods.checkSkippable(method, ANNOTATION);
        }
        if ((mode == LockMode.PERMITS) != (permits > 0)) {
            throw refused("needs mode = PERMITS and permits = 1 or more together");
        }
        if (names.size() > 1 && mode != LockMode.EXCLUSIVE) {
            throw refused("has several names, which can be held exclusively only; leave mode out");
        }
        Class<?> other = names.size() > 1 ? Hold.class : MultiHold.class;
        if (Methods.parameterOf(method, other) >= 0) {
            throw refused("has "
                    + (names.size() > 1
                            ? "several names: the parameter is a MultiHold"
                            : "one name: the parameter is a Hold"));
        }
        checkResult(bean, method.getReturnType());
    }

    private void checkResult(Class<?> bean, Class<?> type) {
        if (type != CompletableFuture.class && Future.class.isAssignableFrom(type)
                || CompletionStage.class.isAssignableFrom(type) && !type.isAssignableFrom(CompletableFuture.class)) {
            throw refused("returns a " + type.getSimpleName()
                    + ", whose completion cannot be observed; return a CompletableFuture");
        }
        boolean held = CompletionStage.class.isAssignableFrom(type)
                || HoldLockInterceptor.REACTOR && ReactiveCall.isOne(method);
        ResolvableType result = Methods.result(bean, method);
        if (held ? Methods.containsUnfinished(result) : Methods.isUnfinished(result)) {
            throw refused("returns a " + Methods.resultTitle(bean, method)
                    + ", whose work begins after the method has returned, without the lock; do the work in the method,"
                    + " or return a CompletableFuture");
        }
    }

    /**
     * Refuses a value whose work goes on without the lock.
     *
     * @throws IllegalStateException if the value is such
     */
    void checkFinished(@Nullable Object value) {
        Methods.checkFinished(
                method,
                ANNOTATION,
                value,
                "without the lock; do the work in the method, or declare the method with the return type"
                        + " CompletableFuture");
    }

    Method method() {
        return method;
    }

    /** The names, if they are the same for each call; else none. */
    List<String> constantNames() {
        return names.constants();
    }

    String client() {
        return client;
    }

    int holdParameter() {
        return holdParameter;
    }

    /** What a call wants to hold. */
    LockRequest request(MethodInvocation call, LockClients clients) {
        HoldOptions options = clients.options(client);
        HoldOptions leased = lease == null ? options : options.lease(lease);
        HoldOptions own = mode == LockMode.PERMITS ? leased.reentrant(false) : leased; // permits have no owner
        return new LockRequest(
                clients.client(client), names.evaluate(call), names.size() > 1, mode, permits, patience, own);
    }

    /**
     * What a call returns whose lock was not acquired.
     *
     * @throws LockNotAcquiredException if it is not skipped
     */
    @Nullable
    Object notAcquired(LockRequest request) {
        if (!skips) {
            throw failure(request);
        }
        return Methods.skipped(method);
    }

    boolean skips() {
        return skips;
    }

    LockNotAcquiredException failure(LockRequest request) {
        return new LockNotAcquiredException(
                Methods.title(method) + " did not run: others hold the lock " + request.names() + " and the wait of "
                        + patience + " has passed; try again later, or set a longer waitTime",
                null);
    }

    private IllegalStateException refused(String why) {
        return Methods.refused(method, ANNOTATION, why);
    }

    @Override
    public String toString() {
        return Methods.title(method);
    }
}
