package dev.holdfast.jdbc;

import dev.holdfast.LockStatus;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** What a row says to people. A claim that was offered the lock still waits, as far as they are concerned. */
final class RowStatus {
    private static final long TOKENS_PER_GRANT = 1024;

    private RowStatus() {}

    static LockStatus of(String name, LockRow row) {
        HolderEntry alone = row.exclusive();
        List<HolderEntry> valid = (alone == null ? row.sharing() : List.of(alone))
                .stream().filter(each -> !each.isExpired(row.now())).toList();
        long waiting = row.waiting().stream()
                        .filter(each -> each.aliveUntil() > row.now())
                        .count()
                + valid.stream().filter(HolderEntry::isOffer).count();
        Optional<LockStatus.Held> held = valid.stream()
                .filter(each -> !each.isOffer())
                .max(Comparator.comparingLong(HolderEntry::expiresAt)) // of many, the one that stays longest
                .map(each -> new LockStatus.Held(
                        each.mode().kind(),
                        each.number() * TOKENS_PER_GRANT,
                        each.holder(),
                        Duration.of(Math.max(0, row.now() - each.acquiredAt()), ChronoUnit.MICROS),
                        Duration.of(each.expiresAt() - row.now(), ChronoUnit.MICROS)));
        return new LockStatus(name, held, (int) waiting);
    }
}
