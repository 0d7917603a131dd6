package dev.holdfast.cli;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
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
        String name,
        HoldOptions options,
        List<String> command,
        @Nullable Duration patience,
        Duration grace,
        int conflictCode) {
    private static final int LONGEST_LABEL = 60;

    int call() throws InterruptedException {
        try (LockClient client = store.open(label())) {
            DistributedLock lock = StoreUrl.lock(client, name, options);
            SignalRelay signals = SignalRelay.install();
            Optional<Hold> hold = acquire(lock);
            Optional<OsSignal> ended = signals.stopWaiting();
            if (ended.isPresent()) {
                hold.ifPresent(this::release);
                throw stoppedWaiting(ended.get());
            }
            return runHolding(hold.orElseThrow(() -> notAcquired(lock)), signals);
        }
    }

    /** Empty when it could not be had in time, or a signal ended the wait. */
    private Optional<Hold> acquire(DistributedLock lock) {
        try {
            if (patience == null) {
                return Optional.of(lock.acquire());
            }
            return patience.isZero() ? lock.tryAcquire() : lock.tryAcquire(patience);
        } catch (InterruptedException e) {
            return Optional.empty();
        }
    }

    private int runHolding(Hold hold, SignalRelay signals) throws InterruptedException {
        ChildCommand child;
        try {
            child = ChildCommand.start(command, environment(hold));
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

    private static Map<String, String> environment(Hold hold) {
        return Map.of(
                "HOLDFAST_NAME", hold.name(),
                "HOLDFAST_TOKEN", Long.toString(hold.token()),
                "HOLDFAST_HOLD_ID", hold.id());
    }

    /** A hold that was lost at the very end shows only when it is closed: the command then ran to its end in doubt. */
    private int finish(Hold hold, boolean lost, int exitCode) {
        Optional<HoldLostException> loss = release(hold);
        if (!lost && loss.isEmpty()) {
            return exitCode;
        }
        String why = loss.map(HoldLostException::getMessage).orElse("the hold of " + lockOnStore() + " is in doubt");
        String what = lost
                ? "'" + shortCommand() + "' was stopped; check what it left"
                : "'" + shortCommand() + "' had just ended with " + exitCode + "; check its work";
        throw new CliException(ExitCode.HOLD_LOST, why + "; " + what, loss.orElse(null));
    }

    /** Releases, and waits until the store has it; tells of a loss. */
    private Optional<HoldLostException> release(Hold hold) {
        try {
            hold.close();
        } catch (HoldLostException e) {
            return Optional.of(e);
        } catch (HoldfastException e) {
            System.err.println("holdfast: "
                    + Redaction.oneLine("the release of " + lockOnStore()
                            + " was not confirmed; it is free when its lease of " + HumanTime.of(options.lease())
                            + " has run out: " + e.getMessage()));
        }
        return Optional.empty();
    }

    private CliException stoppedWaiting(OsSignal signal) {
        return new CliException(
                ExitCode.ofSignal(signal.number()),
                "stopped waiting for " + lockOnStore() + " by SIG" + signal.name() + "; the command was not run");
    }

    private CliException notAcquired(DistributedLock lock) {
        String waited =
                patience == null || patience.isZero() ? "is not free" : "was not free within " + HumanTime.of(patience);
        return new CliException(
                conflictCode,
                lockOnStore() + " " + waited + holder(lock) + "; wait longer with --wait, or see '"
                        + store.listCommand() + "'");
    }

    /** Who has it, if the store is as good as to tell: it is only for the message. */
    private static String holder(DistributedLock lock) {
        try {
            return lock.status()
                    .grant()
                    .map(held -> ", held by " + held.holder() + " for " + HumanTime.of(held.held()))
                    .orElse("");
        } catch (HoldfastException e) {
            return "";
        }
    }

    private String lockOnStore() {
        return "lock '" + name + "' on " + store.shown();
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
