package dev.holdfast.spring;

import dev.holdfast.OnceOptions;
import dev.holdfast.OnceTurn;
import java.lang.reflect.Method;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.scheduling.annotation.Scheduled;

/** What {@link Once} says of one method; read and checked at the start. */
final class OnceMethod {
    private static final String ANNOTATION = "Once";
    private static final String WHY =
            "but the work is recorded as done when the method returns; wait for it in the method";

    private final Method method;
    private final String name;
    private final boolean unnamed;
    private final @Nullable NameTemplates key;
    private final OnceOptions options;
    private final String client;
    private final int turnParameter;
    private final boolean countedInUtc;

    private OnceMethod(Class<?> type, Method method, Once said, Texts texts) {
        String written = texts.resolve(said.name());
        String writtenKey = texts.resolve(said.key());
        this.method = method;
        this.unnamed = written.isEmpty();
        this.name = unnamed ? Methods.defaultName(type, method) : written;
        this.key = writtenKey.isEmpty() ? null : new NameTemplates(List.of(writtenKey), method, texts.resolver());
        this.options = options(said, texts);
        this.client = texts.resolve(said.client());
        this.turnParameter = Methods.parameterOf(method, OnceTurn.class);
        String cron = texts.resolve(said.cron());
        this.countedInUtc = isOn(cron) && texts.resolve(said.zone()).isEmpty();
    }

    /**
     * Reads the annotation.
     *
     * @throws IllegalStateException if what it says cannot be
     */
    static OnceMethod read(Class<?> bean, Method method, Once said, Texts texts) {
        long periods = Stream.of(said.every(), said.cron(), said.key())
                .map(texts::resolve)
                .filter(text -> !text.isEmpty())
                .count();
        if (periods != 1) {
            throw Methods.refused(
                    method,
                    ANNOTATION,
                    "has " + (periods == 0 ? "no period" : "more than one period")
                            + "; set one of every = \"1h\", cron = \"0 0 3 * * *\" and key = \"#{#id}\"");
        }
        SuspendingFunctions.refuse(method, ANNOTATION);
        Methods.checkFinished(bean, method, ANNOTATION, WHY);
        Methods.checkSkippable(method, ANNOTATION);
        Methods.checkConstant(
                method, ANNOTATION, texts.resolve(said.name()), "use key = \"#{…}\", or a method for each name");
        return new OnceMethod(bean, method, said, texts);
    }

    private static OnceOptions options(Once said, Texts texts) {
        OnceOptions options =
                period(said, texts).retryFailed(said.retryFailed()).retryCrashed(said.retryCrashed());
        Duration atLeast = texts.duration(said.atLeast());
        Duration atMost = texts.duration(said.atMost());
        Duration lease = texts.duration(said.lease());
        options = atLeast == null ? options : options.atLeast(atLeast);
        options = atMost == null ? options : options.atMost(atMost);
        return lease == null ? options : options.lease(lease);
    }

    private static OnceOptions period(Once said, Texts texts) {
        Duration every = texts.duration(said.every());
        if (every != null) {
            return OnceOptions.every(every);
        }
        String cron = texts.resolve(said.cron());
        if (cron.equals(Scheduled.CRON_DISABLED)) {
            return OnceOptions.on(moment -> {
                throw new IllegalStateException("its cron expression is \"-\": the timer is switched off");
            });
        }
        if (!cron.isEmpty()) {
            String zone = texts.resolve(said.zone());
            return OnceOptions.on(new CronPeriods(cron, zone.isEmpty() ? ZoneOffset.UTC : ZoneId.of(zone)));
        }
        Duration keep = texts.duration(said.keep());
        return keep == null ? OnceOptions.defaults() : OnceOptions.keptFor(keep);
    }

    /** Whether a cron expression gives times. */
    static boolean isOn(String cron) {
        return !cron.isEmpty() && !cron.equals(Scheduled.CRON_DISABLED);
    }

    /** Whether it has a cron expression without a zone. */
    boolean isCountedInUtc() {
        return countedInUtc;
    }

    Method method() {
        return method;
    }

    /**
     * Refuses a value whose work is not over.
     *
     * @throws IllegalStateException if the value is such
     */
    void checkFinished(@Nullable Object value) {
        Methods.checkFinished(method, ANNOTATION, value, WHY);
    }

    /** The name for one call: of the work, or of the work and its key. */
    String name(MethodInvocation call) {
        return key == null ? name : keyPrefix() + key.evaluate(call).get(0);
    }

    /** Whether the names of its calls differ by a key. */
    boolean isKeyed() {
        return key != null;
    }

    private String keyPrefix() {
        return NameTemplate.escaped(name, ':') + ":";
    }

    /** Whether a key of the other method may make the name of this one. */
    boolean mayBeNamedByKeyOf(OnceMethod other) {
        return key == null && other.key != null && client.equals(other.client) && name.startsWith(other.keyPrefix());
    }

    /** Whether all its calls have the name of the class and the method. */
    boolean isUnnamed() {
        return unnamed && key == null;
    }

    /** The name of the work, without the key. */
    String workName() {
        return name;
    }

    /** Whether every call holds the lock of this name. */
    boolean holds(String lock) {
        return key == null && name.equals(lock);
    }

    OnceOptions options() {
        return options;
    }

    String client() {
        return client;
    }

    int turnParameter() {
        return turnParameter;
    }

    @Override
    public String toString() {
        return Methods.title(method);
    }
}
