package dev.holdfast.spring;

import dev.holdfast.LockMode;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;

/**
 * The method runs while a lock is held, and never without it.
 *
 * <pre>{@code
 * @HoldLock("order:#{#id}")
 * public void charge(long id) {
 *     orders.charge(id);
 * }
 * }</pre>
 *
 * <p>The lock is acquired before a transaction of the method begins and released after it has ended. A method that
 * returns a {@code CompletableFuture}, {@code Mono} or {@code Flux} holds the lock until that has completed, and a
 * suspending function of Kotlin until it has returned (with {@code kotlinx-coroutines-reactor}). After a cancellation, the
 * lock is held until what still runs has ended. Any other result whose work begins or ends later is refused, at the start
 * or with an {@link IllegalStateException}. If the lock was lost meanwhile, the caller gets a
 * {@link dev.holdfast.HoldLostException}.
 *
 * <p>A parameter of type {@link dev.holdfast.Hold} gets the hold; callers pass null. With several names its type is
 * {@link dev.holdfast.MultiHold}, and {@link dev.holdfast.Holding} is for both.
 *
 * <p>It works on calls that go through the bean, not on calls of a method by its own object ({@link Locks#assertHeld()}
 * finds those). Methods that no proxy can override are refused at the start: private, static and final ones, and those that
 * are package-private in another package than the bean; so are those that Spring calls on the object itself, such as
 * {@code @PostConstruct}. It may be put on an annotation of your own.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
public @interface HoldLock {

    /** The same as {@link #name()}. */
    @AliasFor("name")
    String[] value() default {};

    /**
     * The name of the lock, or several names that are acquired together: text with <code>#{…}</code> for expressions over
     * the arguments and beans, and <code>${…}</code> for properties. It is evaluated once, before the call; an expression
     * that results in null or in no text is refused. Two expressions need text between them. Where the first value
     * contains the character that follows it, a backslash is put before that character, so that different values make
     * different names. Default: the class and the method.
     */
    @AliasFor("value")
    String[] name() default {};

    /** How long to wait, as in {@code "2s"}; {@code "0s"} asks once. Default: as long as it takes. */
    String waitTime() default "";

    /** What happens when the wait has passed and others hold the lock. */
    NotAcquired notAcquired() default NotAcquired.THROW;

    /** How long the store keeps the lock if this process dies, as in {@code "10s"}. Default: that of the client. */
    String lease() default "";

    /** Alone, with other readers, or as one of so many {@link #permits()}. */
    LockMode mode() default LockMode.EXCLUSIVE;

    /** How many permits there are over all processes, with {@link LockMode#PERMITS}. */
    int permits() default 0;

    /** The name of the lock client. Default: the only one, or the primary one. */
    String client() default "";
}
