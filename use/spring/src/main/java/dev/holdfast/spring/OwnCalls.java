package dev.holdfast.spring;

import java.lang.StackWalker.Option;
import java.lang.StackWalker.StackFrame;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;

/** Finds a method whose annotation did not work, because its own object called it: the stack shows it. */
final class OwnCalls {
    private static final StackWalker STACK = StackWalker.getInstance(Option.RETAIN_CLASS_REFERENCE);
    private static final List<Class<? extends Annotation>> ANNOTATIONS =
            List.of(HoldLock.class, Once.class, LeaderOnly.class);

    /** Where an annotated method was called through its bean. */
    private static final Set<Class<?>> THROUGH_THE_BEAN =
            Set.of(HoldLockInterceptor.class, OnceInterceptor.class, LeaderInterceptor.class, ReactiveCall.class);

    private OwnCalls() {}

    /**
     * The innermost annotated method on the stack of the calling thread, unless it is the one that was called through its
     * bean last, or has the same lock.
     *
     * @param throughBean that one
     */
    static @Nullable Method innermost(Method throughBean) {
        return STACK.walk(frames -> frames.takeWhile(frame -> !THROUGH_THE_BEAN.contains(
                                frame.getDeclaringClass().getNestHost()))
                        .flatMap(frame -> annotated(frame).stream())
                        .findFirst())
                .filter(method -> !isSame(method, throughBean) && !hasSameLock(method, throughBean))
                .orElse(null);
    }

    private static Optional<Method> annotated(StackFrame frame) {
        if (frame.getClassName().startsWith("java.") || frame.getClassName().startsWith("org.springframework.")) {
            return Optional.empty();
        }
        try {
            Method method = frame.getDeclaringClass()
                    .getDeclaredMethod(
                            frame.getMethodName(), frame.getMethodType().parameterArray());
            boolean found = !method.isBridge()
                    && ANNOTATIONS.stream().anyMatch(each -> AnnotatedElementUtils.hasAnnotation(method, each));
            return found ? Optional.of(method) : Optional.empty();
        } catch (NoSuchMethodException | LinkageError | UnsupportedOperationException unknown) {
            // a constructor, a class that lacks a part, or a native image, whose frames have no types
            return Optional.empty();
        }
    }

    /** Whether both surely hold one lock: the same written name, or as overloads the name that is made of theirs. */
    private static boolean hasSameLock(Method one, Method other) {
        HoldLock here = AnnotatedElementUtils.findMergedAnnotation(one, HoldLock.class);
        HoldLock there = AnnotatedElementUtils.findMergedAnnotation(other, HoldLock.class);
        return here != null
                && there != null
                && here.mode() == there.mode()
                && here.permits() == there.permits()
                && here.client().equals(there.client())
                && Arrays.equals(here.name(), there.name())
                && (here.name().length == 0
                        ? isOverload(one, other)
                        : Arrays.stream(here.name()).noneMatch(name -> name.contains("#{")));
    }

    /** Whether one is the other, or overrides it. */
    private static boolean isSame(Method one, Method other) {
        return isOverload(one, other)
                && (one.getDeclaringClass() == other.getDeclaringClass()
                        ? Arrays.equals(one.getParameterTypes(), other.getParameterTypes())
                        : one.getParameterCount() == other.getParameterCount());
    }

    /** Whether they have one name in one class, or in one of which the other is made. */
    private static boolean isOverload(Method one, Method other) {
        Class<?> here = one.getDeclaringClass();
        Class<?> there = other.getDeclaringClass();
        return one.getName().equals(other.getName()) && (here.isAssignableFrom(there) || there.isAssignableFrom(here));
    }
}
