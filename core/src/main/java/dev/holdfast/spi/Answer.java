package dev.holdfast.spi;

import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Where a store tells, once, how a claim ended; given to it with the claim.
 *
 * <pre>
 *   granted(grant)   the claim has the name
 *   refused()        it does not wait and the name is not free, or it was {@linkplain Pending#cancel called off}:
 *                    the store no longer holds anything of it
 *   failed(why)      its outcome is unknown, by a {@link dev.holdfast.HoldfastException}: the engine withdraws it
 * </pre>
 *
 * <p>The first of these counts, whichever thread it comes from; all later ones return false and do nothing. It may come on any
 * thread, also inside {@link Store#claim}, but under no mutex of the store: what the engine does then is short and never
 * blocks, and may call the store. It throws nothing. Thread-safe.
 */
public final class Answer {
    private final BiConsumer<@Nullable Grant, @Nullable Throwable> hears;
    private final AtomicBoolean given;
    private final @Nullable Runnable first;

    /**
     * An answer to come.
     *
     * @param hears called once: with the grant, with a failure, or with neither where the claim was refused
     */
    public Answer(BiConsumer<@Nullable Grant, @Nullable Throwable> hears) {
        this.hears = hears;
        this.given = new AtomicBoolean();
        this.first = null;
    }

    private Answer(
            BiConsumer<@Nullable Grant, @Nullable Throwable> hears, AtomicBoolean given, @Nullable Runnable first) {
        this.hears = hears;
        this.given = given;
        this.first = first;
    }

    /**
     * The same answer, before which a store does something however the claim ends, such as forgetting it; perhaps more than
     * once.
     */
    public Answer after(Runnable done) {
        return new Answer(hears, given, done);
    }

    /**
     * The claim has the name.
     *
     * @return false if another answer was given before: then nobody has this grant, and the store ends it, unless the claim was
     *     sent before its withdrawal can be, which ends it too
     */
    public boolean granted(Grant grant) {
        return grant == null ? failed(new NullPointerException("the store granted null")) : give(grant, null);
    }

    /** The claim left nothing in the store, and has no grant; false if another answer was given before. */
    public boolean refused() {
        return give(null, null);
    }

    /** Nobody knows what became of the claim; false if another answer was given before. */
    public boolean failed(Throwable why) {
        return give(null, why == null ? new NullPointerException("the store failed by null") : why);
    }

    /** Takes the answer of a request, once that has it: a grant, nothing, or a failure. */
    public void follow(CompletionStage<Optional<Grant>> request) {
        request.whenComplete((grant, why) -> {
            if (why == null && grant == null) {
                failed(new NullPointerException("the store answered null"));
            } else {
                give(why == null ? grant.orElse(null) : null, why);
            }
        });
    }

    /** Whether it was given. */
    public boolean isGiven() {
        return given.get();
    }

    private boolean give(@Nullable Grant grant, @Nullable Throwable why) {
        if (first != null) {
            try {
                first.run();
            } catch (Throwable broken) {
                // the answer counts, and is given
            }
        }
        if (!given.compareAndSet(false, true)) {
            return false;
        }
        try {
            hears.accept(grant, why);
        } catch (Throwable broken) {
            // no matter of the store, which goes on; whoever hears has seen to what follows
        }
        return true;
    }
}
