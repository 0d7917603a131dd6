package dev.holdfast.internal;

import dev.holdfast.HoldOptions;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import java.util.List;
import java.util.function.Consumer;

/**
 * What the store is asked between two holds of one grant. Whoever asks is told whether the grant stands and was
 * changed; no answer counts as no.
 */
final class Refresh {
    private final Store store;

    Refresh(Store store) {
        this.store = store;
    }

    /** Asks for a fresh grant number; the store says no when another client waits. */
    void number(LiveGrant live, Consumer<Boolean> then) {
        Grant old = live.grant();
        long wallLead = live.wallLead();
        Returns.guarded(() -> store.extend(old)).whenComplete((answer, failure) -> {
            Grant fresh = answer == null ? null : answer.orElse(null);
            then.accept(fresh != null
                    && fresh.number() > old.number()
                    && Tokens.isNumber(fresh.number())
                    && live.change(fresh, fresh.sentNanos(), wallLead));
        });
    }

    /** Renews a grant with the lease of its next holder; not while another renewal, of the old lease, is under way. */
    void renewFor(LiveGrant live, HoldOptions options, Consumer<Boolean> then) {
        if (!live.beginRenewal()) {
            then.accept(false);
            return;
        }
        Grant request = live.toHandOver(options);
        long wallLead = live.wallLead();
        Returns.guarded(() -> store.renew(List.of(request))).whenComplete((answer, failure) -> {
            Renewal renewal = answer == null ? null : answer.get(request.id());
            live.endRenewal(renewal != null && renewal.verdict() != Renewal.Verdict.UNKNOWN);
            then.accept(renewal != null
                    && renewal.verdict() == Renewal.Verdict.HELD
                    && live.change(request, renewal.sentNanos(), wallLead));
        });
    }
}
