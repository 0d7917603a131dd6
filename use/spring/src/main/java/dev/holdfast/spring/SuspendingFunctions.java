package dev.holdfast.spring;

import java.lang.reflect.Method;
import java.util.Optional;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodParameter;
import org.springframework.util.ClassUtils;

/**
 * Suspending functions of Kotlin. A proxy of Spring runs such a function as a {@code Mono}, and suspends its caller until
 * that has completed, if {@code kotlinx-coroutines-reactor} is there; otherwise the call returns when the function suspends
 * for the first time.
 */
final class SuspendingFunctions {
    private static final boolean RUN_AS_MONO =
            ClassUtils.isPresent("kotlinx.coroutines.reactor.MonoKt", SuspendingFunctions.class.getClassLoader())
                    && ClassUtils.isPresent("kotlin.reflect.full.KClasses", SuspendingFunctions.class.getClassLoader());

    private SuspendingFunctions() {}

    /** Whether the method is such a function. */
    static boolean isOne(Method method) {
        return KotlinDetector.isSuspendingFunction(method);
    }

    /**
     * Refuses a suspending function.
     *
     * @throws IllegalStateException if it is one
     */
    static void refuse(Method method, String annotation) {
        if (isOne(method)) {
            throw Methods.refused(
                    method, annotation, "cannot be on a suspending function; call that from an ordinary one");
        }
    }

    /**
     * Refuses a suspending function whose completion cannot be observed.
     *
     * @throws IllegalStateException if it returns something whose work goes on later, such as a {@code Flow} or a {@code
     *     Mono}, or if the libraries are missing that run it as a {@code Mono}
     */
    static void checkCompletes(Class<?> bean, Method method, String annotation) {
        if (!RUN_AS_MONO) {
            throw Methods.refused(
                    method,
                    annotation,
                    "is on a suspending function, which needs org.jetbrains.kotlinx:kotlinx-coroutines-reactor and"
                            + " org.jetbrains.kotlin:kotlin-reflect; add them");
        }
        if (Methods.isUnfinished(Methods.result(bean, method))) {
            throw Methods.refused(
                    method,
                    annotation,
                    "is on a suspending function that returns a " + Methods.resultTitle(bean, method)
                            + ", whose work goes on later, without the lock; await it in the function, or make the function"
                            + " an ordinary one");
        }
    }

    /** Whether a call may return null, or returns nothing. */
    static boolean mayReturnNothing(Method method) {
        MethodParameter returned = returned(method);
        Class<?> type = returned.getParameterType();
        return type == void.class || type != Optional.class && returned.isOptional();
    }

    /** What is declared in Kotlin; for Java the return type of all of them is Object. */
    private static MethodParameter returned(Method method) {
        return new MethodParameter(method, -1);
    }
}
