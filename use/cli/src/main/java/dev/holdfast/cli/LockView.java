package dev.holdfast.cli;

import dev.holdfast.Holder;
import dev.holdfast.LockMode;
import dev.holdfast.LockStatus;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What {@code list} shows of locks, for people and for programs. */
final class LockView {
    static final String NOTHING = "-";

    private LockView() {}

    /**
     * A table.
     *
     * @param countsWaiters whether the store knows how many wait
     */
    static String table(List<LockStatus> locks, boolean countsWaiters) {
        TextTable table =
                new TextTable("llrlrrr", "NAME", "MODE", "TOKEN", "HOLDER", "HELD FOR", "LEASE LEFT", "WAITING");
        for (LockStatus lock : locks) {
            String waiting = waiting(lock, countsWaiters);
            lock.grant()
                    .ifPresentOrElse(
                            held -> table.row(
                                    Printable.text(lock.name()),
                                    mode(held.mode()),
                                    Long.toString(held.token()),
                                    Printable.text(held.holder().toString()),
                                    HumanTime.of(held.heldFor()),
                                    HumanTime.of(held.leaseLeft()),
                                    waiting),
                            () -> table.row(
                                    Printable.text(lock.name()), NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, waiting));
        }
        return table.toString();
    }

    /** How many wait, in a table. */
    static String waiting(LockStatus lock, boolean countsWaiters) {
        return countsWaiters ? Integer.toString(lock.waiting()) : NOTHING;
    }

    /** The documented shape; what a lock that nobody holds has not got is null, and what the store does not know. */
    static Map<String, @Nullable Object> json(LockStatus lock, boolean countsWaiters) {
        LockStatus.@Nullable Held held = lock.grant().orElse(null);
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("name", lock.name());
        fields.put("mode", held == null ? null : mode(held.mode()));
        fields.put("token", held == null ? null : held.token());
        fields.put("holder", held == null ? null : holder(held.holder()));
        fields.put("heldMillis", held == null ? null : held.heldFor().toMillis());
        fields.put("leaseLeftMillis", held == null ? null : held.leaseLeft().toMillis());
        fields.put("waiting", countsWaiters ? lock.waiting() : null);
        return fields;
    }

    static Map<String, Object> holder(Holder holder) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("host", holder.host());
        fields.put("pid", holder.pid());
        fields.put("label", holder.label());
        return fields;
    }

    static String mode(LockMode mode) {
        return mode.name().toLowerCase(Locale.ROOT);
    }
}
