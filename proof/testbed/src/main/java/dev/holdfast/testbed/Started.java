package dev.holdfast.testbed;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.ReflectionSupport;

/**
 * A server for the tests of a class, in a static field: started before them and before what {@code @BeforeAll} does, closed
 * after them. Where there is none the tests are skipped, as {@link OrSkip} says.
 *
 * <pre>{@code
 * @Started({"--appendonly", "yes"})
 * private static RedisServer redis;
 * }</pre>
 *
 * <p>Needs JUnit Jupiter on the class path, as tests have it.
 */
@Target(ElementType.FIELD)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(Started.Starter.class)
public @interface Started {
    /** Options of its command line, for the method {@code start(String...)} of its class. */
    String[] value() default {};

    /** Starts all servers of a class. */
    final class Starter implements BeforeAllCallback {
        @Override
        public void beforeAll(ExtensionContext context) throws ReflectiveOperationException {
            for (Field field : AnnotationSupport.findAnnotatedFields(context.getRequiredTestClass(), Started.class)) {
                Method start = field.getType().getMethod("start", String[].class);
                Object options = field.getAnnotation(Started.class).value();
                Object server = OrSkip.orSkip(() -> ReflectionSupport.invokeMethod(start, null, options));
                // JUnit closes what it keeps there.
                context.getStore(ExtensionContext.Namespace.create(Starter.class))
                        .put(field, server);
                field.setAccessible(true);
                field.set(null, server);
            }
        }
    }
}
