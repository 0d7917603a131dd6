package dev.holdfast.cli;

import dev.holdfast.LockStatus;
import dev.holdfast.LockWaiter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What {@code top} shows of a snapshot and of what was seen before it. */
final class TopView {
    /** So many waiters of a lock are shown by name. */
    private static final int NAMED = 3;
    /** Lines for all but the table: the head, the notes. */
    private static final int OTHER_LINES = 4;

    private static final String BEYOND = " !";

    private TopView() {}

    /**
     * Lines for people.
     *
     * @param lines at most so many
     */
    static List<String> lines(
            String store, Snapshot snapshot, List<List<String>> circles, SeenHistory seen, int lines) {
        List<String> text = new ArrayList<>();
        String waiters = snapshot.countsWaiters() ? ", " + count(snapshot.waiting(), "waiter") : "";
        text.add(count(snapshot.locks().size(), "lock") + waiters + " on " + store + "; read in "
                + HumanTime.of(snapshot.took()));
        circles.forEach(circle -> text.add("CIRCLE OF WAITING: " + Circles.shown(circle, snapshot)));
        List<String> notes = notes(snapshot, seen);
        int room = Math.max(1, lines - text.size() - notes.size() - OTHER_LINES);
        text.add("");
        table(snapshot, seen, room).lines().forEach(text::add);
        text.addAll(notes);
        return text;
    }

    private static String table(Snapshot snapshot, SeenHistory seen, int room) {
        TextTable table = new TextTable("llrrrr", "NAME", "HOLDER", "HELD FOR", "LEASE LEFT", "TOKEN", "WAITING");
        int used = 0;
        for (LockStatus lock : snapshot.byUrgency()) {
            List<LockWaiter> queue = snapshot.queue(lock.name());
            if (used >= room) {
                break;
            }
            row(table, lock, LockView.waiting(lock, snapshot.countsWaiters()), seen.isBeyondUsual(lock));
            used++;
            for (int i = 0; i < Math.min(NAMED, queue.size()) && used < room; i++, used++) {
                table.row(
                        "  " + (i + 1) + ".",
                        Snapshot.party(queue.get(i).who()),
                        HumanTime.of(queue.get(i).waited()),
                        "",
                        "",
                        "");
            }
        }
        return table.toString();
    }

    private static void row(TextTable table, LockStatus lock, String waiting, boolean beyond) {
        LockStatus.@Nullable Held held = lock.grant().orElse(null);
        String name = Printable.text(lock.name());
        if (held == null) {
            String nothing = LockView.NOTHING;
            table.row(name, nothing, nothing, nothing, nothing, waiting);
        } else {
            table.row(
                    name,
                    Snapshot.party(held.holder()),
                    HumanTime.of(held.heldFor()) + (beyond ? BEYOND : ""),
                    HumanTime.of(held.leaseLeft()),
                    Long.toString(held.token()),
                    waiting);
        }
    }

    private static List<String> notes(Snapshot snapshot, SeenHistory seen) {
        List<String> notes = new ArrayList<>();
        boolean hidesNames = !snapshot.namesWaiters() && snapshot.waiting() > 0;
        if (hidesNames || !snapshot.countsWaiters()) {
            notes.add(snapshot.waiters().note);
        }
        if (!seen.events().isEmpty()) {
            notes.add("");
        }
        seen.events()
                .forEach(event -> notes.add(event.at().toString().substring(11, 19) + "Z " + event.what() + "  "
                        + Printable.text("'" + event.name() + "' " + event.who())));
        return notes;
    }

    private static String count(int number, String what) {
        return String.format(Locale.ROOT, "%,d %s%s", number, what, number == 1 ? "" : "s");
    }

    /** The documented shape. */
    static Map<String, @Nullable Object> json(
            String store, Snapshot snapshot, List<List<String>> circles, SeenHistory seen) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("store", store);
        fields.put("readMillis", snapshot.took().toMillis());
        fields.put("namesWaiters", snapshot.namesWaiters());
        fields.put(
                "locks",
                snapshot.byUrgency().stream()
                        .map(lock -> json(lock, snapshot, seen))
                        .toList());
        fields.put("circles", circles);
        fields.put("events", seen.events().stream().map(SeenHistory.Event::json).toList());
        return fields;
    }

    private static Map<String, @Nullable Object> json(LockStatus lock, Snapshot snapshot, SeenHistory seen) {
        Map<String, @Nullable Object> fields = LockView.json(lock, snapshot.countsWaiters());
        fields.put("thread", lock.grant().map(held -> held.holder().thread()).orElse(null));
        fields.put("beyondUsual", seen.isBeyondUsual(lock));
        fields.put(
                "queue",
                snapshot.namesWaiters()
                        ? snapshot.queue(lock.name()).stream()
                                .map(TopView::waiter)
                                .toList()
                        : null);
        return fields;
    }

    /** A waiter as {@code top} and {@code why} print it. */
    static Map<String, Object> waiter(LockWaiter waiter) {
        Map<String, Object> fields = LockView.holder(waiter.who());
        fields.put("thread", waiter.who().thread());
        fields.put("mode", LockView.mode(waiter.mode()));
        fields.put("waitedMillis", waiter.waited().toMillis());
        return fields;
    }
}
