package dev.holdfast.spi;

import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
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
public abstract class Answer {
    private final AtomicBoolean given = new AtomicBoolean();

    /** An answer to come. */
    protected Answer() {}

    /**
     * The claim has the name.
     *
     * @return false if another answer was given before: then nobody has this grant, and the store ends it, unless the claim was
     *     sent before its withdrawal can be, which ends it too
     */
    public final boolean granted(Grant grant) {
        return grant == null ? failed(new NullPointerException("the store granted null")) : give(grant, null);
    }

    /** The claim left nothing in the store, and has no grant; false if another answer was given before. */
    public final boolean refused() {
        return give(null, null);
    }

    /** Nobody knows what became of the claim; false if another answer was given before. */
    public final boolean failed(Throwable why) {
        return give(null, why == null ? new NullPointerException("the store failed by null") : why);
    }

    /** Takes the answer of a request, once that has it: a grant, nothing, or a failure. */
    public final void follow(CompletionStage<Optional<Grant>> request) {
        request.whenComplete((grant, why) -> {
            if (why == null && grant == null) {
                failed(new NullPointerException("the store answered null"));
            } else {
                give(why == null ? grant.orElse(null) : null, why);
            }
        });
    }

    /**
     * The same answer, before which a store does something however the claim ends, such as forgetting it; perhaps more than
     * once.
     */
    public final Answer after(Runnable first) {
        Answer whole = this;
        return new Answer() {
            @Override
            boolean give(@Nullable Grant grant, @Nullable Throwable why) {
                try {
                    first.run();
                } catch (Throwable broken) {
                    // the answer counts, and is given
                }
                return whole.give(grant, why);
            }

            @Override
            public boolean isGiven() {
                return whole.isGiven();
            }

            @Override
            protected void ended(@Nullable Grant grant, @Nullable Throwable why) {}
        };
    }

    /** Whether it was given. */
    public boolean isGiven() {
        return given.get();
    }

    boolean give(@Nullable Grant grant, @Nullable Throwable why) {
        if (!given.compareAndSet(false, true)) {
            return false;
        }
        try {
            ended(grant, why);
        } catch (Throwable broken) {
            // no matter of the store, which goes on; whoever hears has seen to what follows
        }
        return true;
    }

    /**
     * Called once.
     *
     * @param grant null if there is none
     * @param why null unless the outcome is unknown; then there is no grant
     */
    protected abstract void ended(@Nullable Grant grant, @Nullable Throwable why);
}
