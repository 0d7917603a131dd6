package dev.holdfast.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The method runs only while this application leads the election of that name; other calls are skipped. The application
 * stands for the election from its start until its end.
 *
 * <pre>{@code
 * @LeaderOnly("outbox")
 * public void sendOutbox(Term term) {
 *     outbox.send(term.token());
 * }
 * }</pre>
 *
 * <p>A call that is skipped returns null, or an empty {@code Optional}. Leadership can end while the method runs. A
 * parameter of type {@link dev.holdfast.Term} gets the term, which says so and has the fencing token; callers pass null.
 * The work must end in the method: a result whose work goes on, such as a future, a publisher or a stream, is refused.
 * {@link LeaderElected} and {@link LeaderRevoked} are published as events.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
public @interface LeaderOnly {

    /** The name of the election, with <code>${…}</code> for properties. */
    String value();

    /** The name of the lock client. Default: the only one, or the primary one. */
    String client() default "";
}
