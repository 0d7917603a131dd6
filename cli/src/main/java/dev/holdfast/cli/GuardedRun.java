package dev.holdfast.cli;

import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One {@code holdfast run}: acquire, start the command, watch both until one ends, release.
 *
 * @param patience how long to wait for the lock; null is for ever
 * @param grace how long the command may take to end after the hold was lost
 * @param conflictCode what to exit with when the lock was not acquired in time
 */
record GuardedRun(
        StoreUrl store,
        Wanted wanted,
        HoldOptions options,
        List<String> command,
        @Nullable Duration patience,
        Duration grace,
        int conflictCode) {
    private static final int LONGEST_LABEL = 60;

    int call() throws InterruptedException {
        try (LockClient client = store.open(label())) {
            Wanted.Way way = wanted.by(client, options);
            SignalRelay signals = SignalRelay.install();
            Optional<Held> hold = acquire(way);
            Optional<OsSignal> ended = signals.stopWaiting();
            if (ended.isPresent()) {
                hold.ifPresent(this::release);
                throw stoppedWaiting(ended.get());
            }
            return runHolding(hold.orElseThrow(() -> notAcquired(client)), signals);
        }
    }

    /** Empty when it could not be had in time, or a signal ended the wait. */
    private Optional<Held> acquire(Wanted.Way way) {
        try {
            return way.acquire(patience);
        } catch (InterruptedException e) {
            return Optional.empty();
        }
    }

    private int runHolding(Held hold, SignalRelay signals) throws InterruptedException {
        ChildCommand child;
        try {
            child = ChildCommand.start(command, hold.environment());
        } catch (CliException e) {
            release(hold);
            throw e;
        }
        signals.attach(child);
        boolean lost = new HoldWatch(hold).untilEndOf(child);
        if (lost) {
            child.stop(grace);
        }
        return finish(hold, lost, child.exitCode());
    }

    /** A hold that was lost at the very end shows only when it is closed: the command then ran to its end in doubt. */
    private int finish(Held hold, boolean lost, int exitCode) {
        Optional<HoldLostException> loss = release(hold);
        if (!lost && loss.isEmpty()) {
            return exitCode;
        }
        String why = loss.map(HoldLostException::getMessage).orElse("the hold of " + wantedOnStore() + " is in doubt");
        String what = lost
                ? "'" + shortCommand() + "' was stopped; check what it left"
                : "'" + shortCommand() + "' had just ended with " + exitCode + "; check its work";
        throw new CliException(ExitCode.HOLD_LOST, why + "; " + what, loss.orElse(null));
    }

    /** Releases, and waits until the store has it; tells of a loss. */
    private Optional<HoldLostException> release(Held hold) {
        try {
            hold.close();
        } catch (HoldLostException e) {
            return Optional.of(e);
        } catch (HoldfastException e) {
            System.err.println("holdfast: "
                    + Redaction.oneLine("the release of " + wantedOnStore()
                            + " was not confirmed; it is free when its lease of " + HumanTime.of(options.lease())
                            + " has run out: " + e.getMessage()));
        }
        return Optional.empty();
    }

    private CliException stoppedWaiting(OsSignal signal) {
        return new CliException(
                ExitCode.ofSignal(signal.number()),
                "stopped waiting for " + wantedOnStore() + " by SIG" + signal.name() + "; the command was not run");
    }

    private CliException notAcquired(LockClient client) {
        String waited = patience == null || patience.isZero() ? "at once" : "within " + HumanTime.of(patience);
        return new CliException(
                conflictCode,
                wantedOnStore() + " could not be had " + waited + holder(client) + "; wait longer with --wait, or see '"
                        + store.listCommand() + "'");
    }

    /** Who has it, if the store is as good as to tell: it is only for the message. */
    private String holder(LockClient client) {
        try {
            return wanted.names().stream()
                    .map(name -> client.lock(name).status())
                    .filter(LockStatus::isHeld)
                    .findFirst()
                    .flatMap(this::holder)
                    .orElse("");
        } catch (HoldfastException e) {
            return "";
        }
    }

    private Optional<String> holder(LockStatus lock) {
        String which = wanted.names().size() > 1 ? ", '" + lock.name() + "' is held by " : ", held by ";
        return lock.grant().map(held -> which + held.holder() + " for " + HumanTime.of(held.held()));
    }

    private String wantedOnStore() {
        return wanted.shown() + " on " + store.shown();
    }

    /** What others see in {@code list}: the command without its folder, as in ps. */
    private String label() {
        Path program = Path.of(command.get(0)).getFileName();
        String words = program + " " + String.join(" ", command.subList(1, command.size()));
        return shorten(Redaction.oneLine(words));
    }

    private String shortCommand() {
        return shorten(Redaction.oneLine(String.join(" ", command)));
    }

    private static String shorten(String text) {
        return text.codePointCount(0, text.length()) <= LONGEST_LABEL
                ? text
                : text.substring(0, text.offsetByCodePoints(0, LONGEST_LABEL - 1)) + "…";
    }
}
