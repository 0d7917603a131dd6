package dev.holdfast.sim;

import dev.holdfast.LockMode;
import dev.holdfast.spi.Mode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Judges tokens: each is greater than those of all earlier holds it conflicts with, and no two permits have the same. */
final class Rising {
    private final Judge judge;
    private final Map<String, Map<Mode, Long>> highest = new HashMap<>();
    private final Set<String> permits = new HashSet<>();

    Rising(Judge judge) {
        this.judge = judge;
    }

    void given(Held held) {
        Map<Mode, Long> before = highest.computeIfAbsent(held.name, none -> new HashMap<>());
        before.forEach((mode, token) -> {
            if (Ledger.conflict(mode, held.mode) && held.token <= token) {
                judge.broken(Rule.TOKENS, held + " came after token " + Ids.token(token));
            }
        });
        before.merge(held.mode, held.token, Math::max);
        if (held.mode.kind() == LockMode.PERMITS && !permits.add(held.name + held.token)) {
            judge.broken(Rule.TOKENS, held + " has the token of another");
        }
    }
}
