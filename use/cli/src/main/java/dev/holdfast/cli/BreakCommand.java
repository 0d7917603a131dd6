package dev.holdfast.cli;

import dev.holdfast.DistributedLock;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import dev.holdfast.StoreUnavailableException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/**
 * {@code holdfast break}: breaks a lock. It says who has it and what will happen, asks, and breaks the grant it showed: a
 * lock that changed hands meanwhile is left alone. What was broken, by whom and why, is kept in the {@link BreakJournal},
 * also where the store's answer was lost and the lock may have been broken or not.
 */
@Command(
        name = "break",
        description = "Breaks a lock: its holder loses it and is notified.",
        sortOptions = false,
        usageHelpAutoWidth = true,
        footer = {
            "",
            "The next waiter gets the lock when the holder's lease has expired, so that the",
            "holder has noticed. With --now the next waiter gets it immediately: the holder",
            "may still be working, and only resources that check tokens are safe.",
            "",
            "The reason is kept on this machine for 'holdfast why NAME', not in the store.",
            "",
            "Exit codes: 0 broken; 1 nothing was broken: it was not held, or you said no.",
            "",
            "Examples:",
            "  holdfast break nightly-backup",
            "  holdfast break --yes --reason 'hung since noon' nightly-backup",
            "  holdfast break --now --yes deploy                    (its holder is dead)"
        })
class BreakCommand implements Callable<Integer> {
    private static final Set<String> YES = Set.of("y", "yes");

    private final BufferedReader answers =
            new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()));

    @ParentCommand
    private @Nullable HoldfastCommand parent;

    @Parameters(arity = "1", paramLabel = "NAME", hideParamSyntax = true, description = "The lock's name.")
    private String name = "";

    @Option(names = "--now", description = "Do not wait until the lease expires; risky while the holder works.")
    private boolean now;

    @Option(
            names = {"-y", "--yes"},
            description = "Do not ask.")
    private boolean yes;

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why; kept for 'holdfast why NAME'.")
    private String reason = "";

    @Option(names = "--json", description = "Print what was broken as a JSON object.")
    private boolean json;

    /** Whether a person is asked for the reason. */
    boolean asksForReason() {
        return true;
    }

    @Override
    public Integer call() {
        StoreUrl store = Objects.requireNonNull(parent).store();
        if (name.isEmpty()) {
            throw new CliException(
                    ExitCode.USAGE, "a lock's name must not be empty; see '" + store.listCommand() + "'");
        }
        String lockOnStore = "lock '" + name + "' on " + store.shown();
        if (!yes && !Terminal.isAt(Terminal.STDIN)) {
            throw new CliException(
                    ExitCode.USAGE,
                    "will not break " + lockOnStore + " without asking, and stdin is no terminal; add --yes");
        }
        if (store.isAbsentFile()) {
            return nothingBroken(lockOnStore + " is not held");
        }
        try (LockClient client = store.open("")) {
            return breakShown(client, store, lockOnStore);
        }
    }

    private int breakShown(LockClient client, StoreUrl store, String lockOnStore) {
        DistributedLock lock = StoreUrl.lock(client, name, HoldOptions.defaults());
        LockStatus.@Nullable Held held = lock.status().grant().orElse(null);
        if (held == null) {
            return nothingBroken(lockOnStore + " is not held");
        }
        if (held.token() <= 0) { // LockStatus.unreadable
            throw new CliException(
                    ExitCode.STORE_UNAVAILABLE,
                    "the record of " + lockOnStore + " cannot be read: a newer version of Holdfast, or another program,"
                            + " wrote it; update this client; nothing was broken");
        }
        if (!yes && !isConfirmed(lockOnStore, held)) {
            return nothingBroken(lockOnStore + " is left as it is");
        }
        if (!breakGrant(client, store, lockOnStore, held)) {
            return nothingBroken(
                    lockOnStore + " changed hands meanwhile and is left as it is; see '" + store.listCommand() + "'");
        }
        tell("broke " + lockOnStore + ", held by " + held.holder() + others(held) + "; " + consequence(held));
        BreakJournal.Entry entry = BreakJournal.Entry.now(store.shown(), name, held, now, reason, true);
        if (json) {
            System.out.println(Json.of(entry.json()));
        }
        keep(entry);
        return ExitCode.OK;
    }

    private boolean breakGrant(LockClient client, StoreUrl store, String lockOnStore, LockStatus.Held held) {
        try {
            return client.breakGrant(name, held.token(), now);
        } catch (StoreUnavailableException lost) {
            keep(BreakJournal.Entry.now(store.shown(), name, held, now, reason, false));
            throw new StoreUnavailableException(
                    "it is unknown whether " + lockOnStore + ", held by " + held.holder()
                            + ", was broken; see '" + store.command("why") + " " + ShellWord.of(name)
                            + "' before you break it again: " + lost.getMessage(),
                    lost);
        }
    }

    private static void keep(BreakJournal.Entry entry) {
        BreakJournal.ofUser().flatMap(journal -> journal.add(entry)).ifPresent(BreakCommand::tell);
    }

    private boolean isConfirmed(String lockOnStore, LockStatus.Held held) {
        tell(lockOnStore + " is held by " + held.holder() + " for " + HumanTime.of(held.heldFor()) + others(held)
                + "; if broken, " + consequence(held));
        boolean confirmed = YES.contains(ask("Break it? [y/N] ").strip().toLowerCase(Locale.ROOT));
        if (confirmed && reason.isEmpty() && asksForReason()) {
            reason = ask("Why? It is kept for 'holdfast why': ").strip();
        }
        return confirmed;
    }

    /** The answer; empty at the end of the input. */
    private String ask(String question) {
        System.err.print(question);
        System.err.flush();
        try {
            String answer = answers.readLine();
            if (answer == null) {
                System.err.println(); // Ctrl-D ends no line
                return "";
            }
            return answer;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** If several clients hold it, the store names one of them, and only that one loses it. */
    private static String others(LockStatus.Held held) {
        return switch (held.mode()) {
            case EXCLUSIVE -> "";
            case SHARED -> "; other readers keep it";
            case PERMITS -> "; other holders of permits keep theirs";
        };
    }

    private String consequence(LockStatus.Held held) {
        return now
                ? "the next waiter gets it immediately; this holder notices only at its next renewal and may still be"
                        + " working: only resources that check tokens are safe"
                : "this holder loses it at its next renewal, and the next waiter gets it when the lease expires, in "
                        + HumanTime.of(held.leaseLeft());
    }

    private static int nothingBroken(String why) {
        tell(why + "; nothing was broken");
        return ExitCode.NOTHING_BROKEN;
    }

    private static void tell(String message) {
        System.err.println("holdfast: " + Redaction.ours(message));
    }
}
