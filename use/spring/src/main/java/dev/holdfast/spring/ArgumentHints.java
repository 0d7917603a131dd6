package dev.holdfast.spring;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.MethodIntrospector.MetadataLookup;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

/**
 * Keeps for a native image what the names of locks are made of: annotated methods, and the properties of their arguments,
 * so that <code>#{#order.id}</code> can be evaluated there.
 */
final class ArgumentHints implements BeanRegistrationAotProcessor {
    private static final Set<Class<? extends java.lang.annotation.Annotation>> ANNOTATIONS =
            Set.of(HoldLock.class, Once.class, LeaderOnly.class);

    @Override
    public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
        Class<?> type = ClassUtils.getUserClass(bean.getBeanClass());
        if (!AnnotationUtils.isCandidateClass(type, ANNOTATIONS)) {
            return null;
        }
        MetadataLookup<Boolean> annotated = method ->
                ANNOTATIONS.stream().anyMatch(annotation -> AnnotatedElementUtils.hasAnnotation(method, annotation))
                        ? Boolean.TRUE
                        : null;
        Set<Method> methods = MethodIntrospector.selectMethods(type, annotated).keySet();
        return methods.isEmpty()
                ? null
                : (generation, code) -> methods.forEach(
                        method -> keep(method, generation.getRuntimeHints().reflection()));
    }

    private static void keep(Method method, ReflectionHints hints) {
        hints.registerMethod(method, ExecutableMode.INVOKE);
        Type[] arguments = method.getGenericParameterTypes();
        new BindingReflectionHintsRegistrar().registerReflectionHints(hints, arguments);
    }
}
