package dev.holdfast.cli;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import dev.holdfast.LockWaiter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** {@code holdfast why}: why a lock cannot be acquired. */
@Command(
        name = "why",
        description = "Explains why a lock cannot be acquired: its holder, its queue, its circle, who broke it.",
        sortOptions = false,
        usageHelpAutoWidth = true,
        footer = {
            "",
            "Breaks are those of this user on this machine.",
            "",
            "Examples:",
            "  holdfast why nightly-backup",
            "  holdfast why nightly-backup --json | jq '.queue'"
        })
final class WhyCommand implements Callable<Integer> {
    private static final int MOST_BREAKS = 3;

    @ParentCommand
    private @Nullable HoldfastCommand parent;

    @Parameters(arity = "1", paramLabel = "NAME", hideParamSyntax = true, description = "The lock's name.")
    private String name = "";

    @Option(names = "--json", description = "Print a JSON object.")
    private boolean json;

    /** What is known of the lock. */
    private record Known(LockStatus lock, Snapshot all, List<List<String>> circles, List<BreakJournal.Entry> breaks) {}

    @Override
    public Integer call() {
        StoreUrl store = Objects.requireNonNull(parent).store();
        if (name.isEmpty()) {
            throw new CliException(
                    ExitCode.USAGE, "a lock's name must not be empty; see '" + store.listCommand() + "'");
        }
        Known known = store.isAbsentFile()
                ? new Known(LockStatus.free(name, 0), Snapshot.empty(), List.of(), breaks(store))
                : look(store);
        if (json) {
            System.out.println(Json.of(json(known)));
        } else {
            lines(store, known).forEach(line -> System.out.println(Printable.text(line)));
        }
        return ExitCode.OK;
    }

    /** All locks are read where the store names waiters, for a circle goes through others. */
    private Known look(StoreUrl store) {
        try (LockClient client = store.open("")) {
            LockStatus lock =
                    StoreUrl.lock(client, name, HoldOptions.defaults()).status();
            Snapshot.Waiters waiters = Snapshot.Waiters.of(client, client.waiters(name));
            Snapshot all =
                    waiters == Snapshot.Waiters.NAMED ? Snapshot.of(client, "*") : Snapshot.unnamed(lock, waiters);
            List<List<String>> circles = Circles.in(all).stream()
                    .filter(circle -> circle.contains(name))
                    .toList();
            return new Known(lock, all, circles, breaks(store));
        }
    }

    private List<BreakJournal.Entry> breaks(StoreUrl store) {
        return BreakJournal.ofUser().map(journal -> journal.on(store.shown())).orElse(List.of()).stream()
                .filter(entry -> entry.isOf(name))
                .limit(MOST_BREAKS)
                .toList();
    }

    private List<String> lines(StoreUrl store, Known known) {
        List<String> lines = new ArrayList<>();
        lines.add("lock '" + name + "' on " + store.shown());
        known.lock().grant().ifPresentOrElse(held -> held(lines, held), () -> lines.add("  held by     nobody"));
        List<LockWaiter> queue = known.all().queue(name);
        lines.add("  waiting     " + waiting(known));
        for (int i = 0; i < queue.size(); i++) {
            LockWaiter each = queue.get(i);
            lines.add("    " + (i + 1) + ". " + Snapshot.party(each.who()) + ", " + LockView.mode(each.mode())
                    + ", for " + HumanTime.of(each.waited()));
        }
        known.circles().forEach(circle -> lines.add("  CIRCLE OF WAITING: " + Circles.shown(circle, known.all())));
        known.breaks()
                .forEach(entry -> lines.add((entry.confirmed() ? "  broken      " : "  broken?     ") + entry.at()
                        + " by " + entry.by() + ", held by " + entry.holder() + outcome(entry) + reason(entry)));
        lines.add("  next        " + advice(store, known));
        return lines;
    }

    private static String waiting(Known known) {
        int waiting = known.lock().waiting();
        String note = known.all().waiters().note;
        if (!known.all().countsWaiters()) {
            return note;
        }
        return waiting + (waiting > 0 && !known.all().namesWaiters() ? " (" + note + ")" : "");
    }

    private static void held(List<String> lines, LockStatus.Held held) {
        lines.add("  held by     " + Snapshot.party(held.holder()) + " for " + HumanTime.of(held.heldFor()) + ", "
                + LockView.mode(held.mode()) + ", token " + held.token());
        lines.add("  lease left  " + HumanTime.of(held.leaseLeft()) + "; renewed while its holder lives");
    }

    private static String outcome(BreakJournal.Entry entry) {
        return entry.confirmed() ? "" : "; unknown, the store's answer was lost";
    }

    private static String reason(BreakJournal.Entry entry) {
        return entry.reason().isEmpty() ? "" : ": " + entry.reason();
    }

    private String advice(StoreUrl store, Known known) {
        if (!known.lock().isHeld()) {
            return known.lock().waiting() > 0
                    ? "the first in the queue gets it in a moment"
                    : "it can be had: " + store.command("run") + " " + ShellWord.of(name) + " -- CMD";
        }
        return (known.circles().isEmpty()
                        ? "wait until its holder ends; when that is hung or gone: "
                        : "no process in the circle can continue: end one of its holders, or ")
                + store.command("break") + " " + ShellWord.of(name);
    }

    private Map<String, @Nullable Object> json(Known known) {
        Map<String, @Nullable Object> fields =
                new LinkedHashMap<>(LockView.json(known.lock(), known.all().countsWaiters()));
        fields.put(
                "thread",
                known.lock().grant().map(held -> held.holder().thread()).orElse(null));
        fields.put(
                "queue",
                known.all().namesWaiters()
                        ? known.all().queue(name).stream().map(TopView::waiter).toList()
                        : null);
        fields.put("circles", known.circles());
        fields.put(
                "breaks", known.breaks().stream().map(BreakJournal.Entry::json).toList());
        return fields;
    }
}
