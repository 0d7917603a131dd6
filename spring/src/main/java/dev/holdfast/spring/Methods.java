package dev.holdfast.spring;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.util.ClassUtils;

/** What all annotations ask of the methods they are on. */
final class Methods {
    /** Results of which the caller makes something later, when the lock is released already. */
    private static final Set<String> LATER = Set.of(
            "java.util.concurrent.Callable",
            "java.util.concurrent.Flow$Publisher",
            "java.util.function.Supplier",
            "java.util.stream.BaseStream",
            "kotlin.sequences.Sequence",
            "kotlinx.coroutines.Job",
            "kotlinx.coroutines.flow.Flow",
            "org.reactivestreams.Publisher",
            "org.springframework.web.context.request.async.DeferredResult",
            "org.springframework.web.context.request.async.WebAsyncTask",
            "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
            "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

    private Methods() {}

    /** A method as messages call it: {@code Orders.charge}. */
    static String title(Method method) {
        return ClassUtils.getShortName(method.getDeclaringClass()) + "." + method.getName();
    }

    /**
     * Refuses a method that a proxy cannot get in front of: the annotation would have no effect.
     *
     * @throws IllegalStateException if it is private, static or final
     */
    static void checkProxied(Method method, String annotation) {
        for (int modifier : new int[] {Modifier.PRIVATE, Modifier.STATIC, Modifier.FINAL}) {
            if ((method.getModifiers() & modifier) != 0) {
                throw refused(
                        method,
                        annotation,
                        "would have no effect, because the method is " + Modifier.toString(modifier)
                                + " and no proxy can run before it; remove that");
            }
        }
    }

    /**
     * Refuses a method that cannot return "nothing" when it is skipped.
     *
     * @throws IllegalStateException if it returns a primitive value, or a suspending function returns what is never null
     */
    static void checkSkippable(Method method, String annotation) {
        Class<?> type = method.getReturnType();
        if (SuspendingFunctions.isOne(method) && !SuspendingFunctions.mayReturnNothing(method)) {
            throw refused(
                    method,
                    annotation,
                    "may skip the call, and a skipped call returns null; return a nullable type or nothing");
        }
        if (type.isPrimitive() && type != void.class) {
            throw refused(
                    method,
                    annotation,
                    "may skip the call, and a skipped call cannot return a value of the primitive type " + type
                            + "; return an object or nothing");
        }
    }

    /**
     * The name of what says none: the class of the bean and the method, so that beans that inherit a method do not share
     * it.
     */
    static String defaultName(Class<?> type, Method method) {
        boolean isMadeByTheJvm = Proxy.isProxyClass(type) || type.isHidden();
        Class<?> named = isMadeByTheJvm ? method.getDeclaringClass() : type;
        return named.getName() + "." + method.getName();
    }

    /** Whether results of the type are publishers, whose work begins with a subscription. */
    static boolean isPublisher(Class<?> type) {
        return !CompletionStage.class.isAssignableFrom(type)
                && ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
    }

    /** Whether results of the type are such that the caller makes something of them later. */
    static boolean isLater(@Nullable Class<?> type) {
        return type != null
                && (LATER.contains(type.getName())
                        || isLater(type.getSuperclass())
                        || Arrays.stream(type.getInterfaces()).anyMatch(Methods::isLater));
    }

    /** Refuses a name that is the same for every call and seems not to be. */
    static void checkConstant(Method method, String annotation, String name, String instead) {
        if (name.contains("#{")) {
            throw refused(
                    method, annotation, "has an expression in its name, which is the same for every call; " + instead);
        }
    }

    /** What a skipped call returns. */
    static @Nullable Object skipped(Method method) {
        Class<?> type = method.getReturnType();
        if (type == Optional.class) {
            return Optional.empty();
        }
        return type.isAssignableFrom(CompletableFuture.class) && type != Object.class
                ? CompletableFuture.completedFuture(null)
                : null;
    }

    /** The position of the only parameter of such a type, or -1. */
    static int parameterOf(Method method, Class<?>... types) {
        Class<?>[] all = method.getParameterTypes();
        for (int i = 0; i < all.length; i++) {
            if (Arrays.asList(types).contains(all[i])) {
                return i;
            }
        }
        return -1;
    }

    /** Puts a value in the place of an argument. */
    static void setArgument(MethodInvocation call, int index, Object value) {
        if (index >= 0) {
            Object[] arguments = call.getArguments().clone();
            arguments[index] = value;
            ((ProxyMethodInvocation) call).setArguments(arguments);
        }
    }

    /** The error for an annotation that is used wrongly. */
    static AnnotationRefusedException refused(Method method, String annotation, String why) {
        return new AnnotationRefusedException("@" + annotation + " on " + title(method) + " " + why);
    }
}
