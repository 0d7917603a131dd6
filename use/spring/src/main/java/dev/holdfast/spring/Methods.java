package dev.holdfast.spring;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.core.MethodParameter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.http.HttpEntity;
import org.springframework.util.ClassUtils;
import org.springframework.util.ConcurrentReferenceHashMap;

/** What all annotations ask of the methods they are on. */
final class Methods {
    /** Results of which the caller makes something later, when the lock is released already. */
    private static final Set<String> LATER = Set.of(
            "java.lang.Runnable",
            "java.util.Iterator",
            "java.util.concurrent.Callable",
            "java.util.concurrent.Flow$Publisher",
            "java.util.concurrent.Future",
            "java.util.function.Supplier",
            "java.util.stream.BaseStream",
            "kotlin.Function",
            "kotlin.sequences.Sequence",
            "kotlinx.coroutines.Job",
            "kotlinx.coroutines.flow.Flow",
            "org.reactivestreams.Publisher",
            "org.springframework.web.context.request.async.DeferredResult",
            "org.springframework.web.context.request.async.WebAsyncTask",
            "org.springframework.web.reactive.function.server.ServerResponse",
            "org.springframework.web.servlet.function.ServerResponse",
            "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
            "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

    /** A page of Spring Data is a supplier of a stream of what it contains. */
    private static final String CONTAINED = "org.springframework.data.util.Streamable";

    /** On methods that Spring calls on the object itself, past any proxy. */
    private static final Set<String> LIFECYCLE_ANNOTATIONS =
            Set.of("jakarta.annotation.PostConstruct", "jakarta.annotation.PreDestroy");

    private static final int DEEPEST = 4; // of type arguments; a type may contain itself

    private static final boolean HTTP =
            ClassUtils.isPresent("org.springframework.http.HttpEntity", Methods.class.getClassLoader());
    private static final Map<Class<?>, Boolean> UNFINISHED = new ConcurrentReferenceHashMap<>();

    private Methods() {}

    /** A method as messages call it: {@code Orders.charge}. */
    static String title(Method method) {
        return ClassUtils.getShortName(method.getDeclaringClass()) + "." + method.getName();
    }

    /**
     * Refuses a method that a proxy cannot get in front of: the annotation would have no effect.
     *
     * @throws IllegalStateException if it is private, static or final, visible in another package than that of the bean
     *     alone, or called by the container on the object itself
     */
    static void checkProxied(Class<?> bean, Method method, String annotation) {
        for (int modifier : new int[] {Modifier.PRIVATE, Modifier.STATIC, Modifier.FINAL}) {
            if ((method.getModifiers() & modifier) != 0) {
                throw refused(
                        method,
                        annotation,
                        "would have no effect, because the method is " + Modifier.toString(modifier)
                                + " and no proxy can run before it; remove that");
            }
        }
        boolean packagePrivate = (method.getModifiers() & (Modifier.PUBLIC | Modifier.PROTECTED)) == 0;
        if (packagePrivate && !inOnePackage(bean, method.getDeclaringClass())) {
            throw refused(
                    method,
                    annotation,
                    "would have no effect on " + ClassUtils.getShortName(bean)
                            + ", because the method is package-private in another package and no proxy can override it;"
                            + " make it public or protected");
        }
        if (isLifecycle(method)) {
            throw refused(
                    method,
                    annotation,
                    "would have no effect, because Spring calls it on the object itself, past the proxy; do the work in"
                            + " another method, for example on ApplicationReadyEvent");
        }
    }

    private static boolean inOnePackage(Class<?> a, Class<?> b) {
        return a.getPackageName().equals(b.getPackageName()) && a.getClassLoader() == b.getClassLoader();
    }

    private static boolean isLifecycle(Method method) {
        Class<?> owner = method.getDeclaringClass();
        return InitializingBean.class.isAssignableFrom(owner) && isNamed(method, "afterPropertiesSet")
                || DisposableBean.class.isAssignableFrom(owner) && isNamed(method, "destroy")
                || Arrays.stream(method.getAnnotations())
                        .anyMatch(each -> LIFECYCLE_ANNOTATIONS.contains(
                                each.annotationType().getName()));
    }

    private static boolean isNamed(Method method, String name) {
        return method.getName().equals(name) && method.getParameterCount() == 0;
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
                && !type.getName().equals(CONTAINED)
                && (LATER.contains(type.getName())
                        || isLater(type.getSuperclass())
                        || Arrays.stream(type.getInterfaces()).anyMatch(Methods::isLater));
    }

    /** The result type of a bean's method, with its type arguments; for a suspending function, as Kotlin declares. */
    static ResolvableType result(Class<?> bean, Method method) {
        return ResolvableType.forMethodParameter(new MethodParameter(method, -1).withContainingClass(bean));
    }

    /** Whether a result of the type, or a part that its type arguments show, goes on or begins after the return. */
    static boolean isUnfinished(ResolvableType type) {
        return isUnfinished(type, DEEPEST);
    }

    /** The same of the type arguments alone. */
    static boolean containsUnfinished(ResolvableType type) {
        return containsUnfinished(type, DEEPEST);
    }

    private static boolean isUnfinished(ResolvableType type, int depth) {
        return depth > 0 && (isUnfinished(type.toClass()) || containsUnfinished(type, depth));
    }

    private static boolean containsUnfinished(ResolvableType type, int depth) {
        return type.toClass() != Class.class
                && (type.isArray() && isUnfinished(type.getComponentType(), depth - 1)
                        || Arrays.stream(type.getGenerics()).anyMatch(part -> isUnfinished(part, depth - 1)));
    }

    private static boolean isUnfinished(Class<?> type) {
        return UNFINISHED.computeIfAbsent(
                type, each -> CompletionStage.class.isAssignableFrom(each) || isPublisher(each) || isLater(each));
    }

    /** The result type of a method, as messages call it: {@code ResponseEntity<Mono>}, and where a subclass says so. */
    static String resultTitle(Class<?> bean, Method method) {
        String title = title(result(bean, method), DEEPEST);
        return bean == method.getDeclaringClass() ? title : title + " in " + ClassUtils.getShortName(bean);
    }

    private static String title(ResolvableType type, int depth) {
        String name = type.toClass().getSimpleName();
        return Arrays.stream(type.getGenerics())
                .filter(part -> isUnfinished(part, depth - 1))
                .findFirst()
                .map(part -> name + "<" + title(part, depth - 1) + ">")
                .orElse(name);
    }

    /**
     * Refuses a method whose work is not over when it returns.
     *
     * @throws IllegalStateException if its return type says so
     */
    static void checkFinished(Class<?> bean, Method method, String annotation, String why) {
        if (isUnfinished(result(bean, method))) {
            throw refused(method, annotation, "returns a " + resultTitle(bean, method) + ", " + why);
        }
    }

    /**
     * Refuses what a method has returned if its work is not over, where only the value says so.
     *
     * @throws IllegalStateException if it goes on, or has yet to begin; what is yet to begin then never does
     */
    static void checkFinished(Method method, String annotation, @Nullable Object value, String why) {
        Object unfinished = unfinished(value);
        if (unfinished != null) {
            throw refused(
                    method,
                    annotation,
                    "returned a " + ClassUtils.getShortName(unfinished.getClass())
                            + ", whose work goes on after the method has returned, " + why);
        }
    }

    /** The part of a value whose work is not over: the value, or what an Optional or a response contains; else null. */
    private static @Nullable Object unfinished(@Nullable Object value) {
        if (value instanceof Future<?> future && future.isDone()) {
            return null;
        }
        if (value == null || isUnfinished(value.getClass())) {
            return value;
        }
        if (value instanceof Optional<?> optional) {
            return unfinished(optional.orElse(null));
        }
        return HTTP ? Responses.body(value) : null;
    }

    /** Apart, since spring-web need not be there. */
    private static final class Responses {
        static @Nullable Object body(Object value) {
            return value instanceof HttpEntity<?> response ? unfinished(response.getBody()) : null;
        }
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
        return nothing(ResolvableType.forMethodReturnType(method));
    }

    private static @Nullable Object nothing(ResolvableType result) {
        Class<?> type = result.toClass();
        if (type == Optional.class) {
            return Optional.empty();
        }
        return type.isAssignableFrom(CompletableFuture.class) && type != Object.class
                ? CompletableFuture.completedFuture(nothing(result.getGeneric()))
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
