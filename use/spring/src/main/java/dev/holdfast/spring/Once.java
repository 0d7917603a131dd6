package dev.holdfast.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;

/**
 * One of several servers runs the method, the others skip the call: once in each period, or once for a key. It means what
 * {@link dev.holdfast.Once} means.
 *
 * <pre>{@code
 * @Scheduled(cron = "0 0 3 * * *")
 * @Once(cron = "0 0 3 * * *")
 * public void nightlyReport() {
 *     reports.write();
 * }
 * }</pre>
 *
 * <p>Exactly one of {@link #every()}, {@link #cron()} and {@link #key()} is set. A call that is skipped returns null, or
 * an empty {@code Optional}. What the method throws is thrown, and recorded as failed. A parameter of type
 * {@link dev.holdfast.OnceTurn} gets the turn; callers pass null. The work must end in the method: a result whose work goes on,
 * such as a future, a publisher or a stream, is refused at the start. Where only the value shows that, the run is recorded
 * as failed, with an {@link IllegalStateException}.
 *
 * <p>As with {@link HoldLock}, it works on calls that go through the bean. A call inside a method that holds the lock of the
 * same name throws {@link IllegalStateException}: the work would count as running elsewhere, and be skipped each time. Two beans
 * of one class stop the start if the method has no name: it would be one piece of work.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
public @interface Once {

    /** The same as {@link #name()}. */
    @AliasFor("name")
    String value() default "";

    /** The name of the work, with <code>${…}</code> for properties. Default: the class and the method. */
    @AliasFor("value")
    String name() default "";

    /** The length of a period, as in {@code "1h"}. Periods are counted from 1970-01-01T00:00Z. */
    String every() default "";

    /** The beginnings of periods, with the six fields of {@code @Scheduled(cron = …)}. */
    String cron() default "";

    /**
     * The time zone of {@link #cron()}, such as {@code "Europe/Berlin"}. Default: UTC, on every server. {@code @Scheduled}
     * counts in the server's zone unless it names one: name the same zone in both.
     */
    String zone() default "";

    /**
     * The key, with <code>#{…}</code> for expressions over the arguments, as in <code>#{#message.id}</code>. The work is
     * recorded under the name, a colon and the key; a colon of the name itself has a backslash before it there.
     */
    String key() default "";

    /** How long a key is remembered after its run. Default: 24 hours. */
    String keep() default "";

    /** No run begins earlier than this after the beginning of the last. Default: no limit. */
    String atLeast() default "";

    /** After this long the lock of a run is no longer renewed, and another server may run. Default: no limit. */
    String atMost() default "";

    /** How long after the death of a running process another server may run. Default: 30 seconds. */
    String lease() default "";

    /** Whether work that threw is run again when a server asks within the same period. */
    boolean retryFailed() default true;

    /** Whether work whose process died is run again when a server asks within the same period. */
    boolean retryCrashed() default true;

    /** The name of the lock client. Default: the only one, or the primary one. */
    String client() default "";
}
