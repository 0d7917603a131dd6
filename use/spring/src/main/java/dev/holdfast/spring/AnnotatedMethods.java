package dev.holdfast.spring;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInvocation;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.MethodClassKey;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

/**
 * The methods of beans that carry an annotation. A class is read when Spring asks whether its bean needs a proxy, all its
 * methods at once: so what is used wrongly stops the start.
 *
 * @param <A> the annotation; may also be on an annotation of the application's own
 * @param <O> what is known of a method
 */
final class AnnotatedMethods<A extends Annotation, O> extends StaticMethodMatcherPointcut {
    private final Class<A> annotation;
    private final Reader<A, O> reader;
    private final Map<Class<?>, Map<Method, O>> classes = new ConcurrentHashMap<>();
    private final Map<MethodClassKey, Optional<O>> calls = new ConcurrentHashMap<>();

    AnnotatedMethods(Class<A> annotation, Reader<A, O> reader) {
        this.annotation = annotation;
        this.reader = reader;
        ClassFilter hasSome = type -> !of(type).isEmpty();
        setClassFilter(hasSome);
    }

    /**
     * Reads one annotation.
     *
     * @param <A> the annotation
     * @param <O> what is known of a method
     */
    interface Reader<A, O> {
        /** What is known of a method of a bean of that class. */
        O read(Class<?> type, Method method, A annotated);
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        return find(method, targetClass).isPresent();
    }

    /** What is known of the method that is called. */
    O of(MethodInvocation call) {
        Object target = call.getThis();
        Class<?> type = target == null ? call.getMethod().getDeclaringClass() : target.getClass();
        return find(call.getMethod(), type)
                .orElseThrow(() -> new IllegalStateException("no @" + annotation.getSimpleName() + " on " + call));
    }

    /** All that were read so far. */
    Stream<O> all() {
        return classes.values().stream().flatMap(methods -> methods.values().stream());
    }

    /** The annotated methods of a class. */
    Map<Method, O> of(Class<?> type) {
        Class<?> user = ClassUtils.getUserClass(type);
        Map<Method, O> known = classes.get(user);
        if (known == null) {
            known = read(user);
            classes.put(user, known);
        }
        return known;
    }

    private Optional<O> find(Method method, Class<?> type) {
        return calls.computeIfAbsent(new MethodClassKey(method, type), key -> {
            Map<Method, O> known = of(type);
            O specific = known.get(AopUtils.getMostSpecificMethod(method, type));
            // a proxy of the JDK declares the methods of its interfaces again, without their annotations
            return Optional.ofNullable(specific != null ? specific : known.get(method));
        });
    }

    private Map<Method, O> read(Class<?> type) {
        if (!AnnotationUtils.isCandidateClass(type, annotation)) {
            return Map.of();
        }
        Map<Method, A> found = MethodIntrospector.selectMethods(
                type, (Method method) -> AnnotatedElementUtils.findMergedAnnotation(method, annotation));
        Map<Method, O> methods = new HashMap<>();
        found.forEach((method, annotated) -> {
            Methods.checkProxied(type, method, annotation.getSimpleName());
            methods.put(method, read(type, method, annotated));
        });
        return Map.copyOf(methods);
    }

    private O read(Class<?> type, Method method, A annotated) {
        try {
            return reader.read(type, method, annotated);
        } catch (IllegalArgumentException wrong) {
            throw new AnnotationRefusedException(
                    "@" + annotation.getSimpleName() + " on " + Methods.title(method) + ": " + wrong.getMessage(),
                    wrong);
        }
    }
}
