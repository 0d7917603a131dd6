package dev.holdfast.internal;

import dev.holdfast.HoldOptions;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The requests to the store between two holds of one grant. The caller is informed whether the grant still exists and
 * was changed; no answer counts as no.
 */
final class GrantRefresher {
    private final StoreLink store;

    GrantRefresher(StoreLink store) {
        this.store = store;
    }

    /** Asks for a fresh grant number; the store refuses when another client waits. */
    void number(GrantState live, Consumer<Boolean> then) {
        Grant old = live.grant();
        long wallLead = live.wallLead();
        once(live, then, () -> store.extend(old), answer -> {
            Grant fresh = answer.orElse(null);
            return fresh != null
                    && fresh.number() > old.number()
                    && Tokens.isNumber(fresh.number())
                    && live.renumber(fresh, wallLead);
        });
    }

    /** Renews a grant with the lease of its next holder. */
    void renewFor(GrantState live, HoldOptions options, Consumer<Boolean> then) {
        long wallLead = live.wallLead();
        once(live, then, () -> store.renew(List.of(live.toHandOver(options))), answer -> {
            Renewal renewal = answer.get(live.grant().id());
            return renewal != null
                    && renewal.verdict() == Renewal.Verdict.HELD
                    && live.changeLease(live.leaseFor(options), renewal.sentNanos(), wallLead);
        });
    }

    /** One at a time: a renewal that another could overtake would leave the store with the wrong lease. */
    private static <T> void once(
            GrantState live, Consumer<Boolean> then, Supplier<CompletableFuture<T>> request, Predicate<T> apply) {
        if (!live.renewal().begin()) {
            then.accept(false);
            return;
        }
        request.get().whenComplete((answer, failure) -> {
            boolean changed = false;
            try {
                changed = answer != null && apply.test(answer);
            } finally {
                live.renewal().end(answer != null);
                then.accept(changed);
            }
        });
    }
}
