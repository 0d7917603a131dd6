package dev.holdfast.cli;

import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.Holder;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import dev.holdfast.LockWaiter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One {@code holdfast run}: acquire, start the command, watch both until one ends, release.
 *
 * @param patience how long to wait for the lock; null is for ever
 * @param grace how long the command may take to end after the hold was lost
 * @param maxHold how long the command may hold the lock; null is for ever
 * @param limit the option that says {@code maxHold}, for messages
 * @param dieWithParent whether the kernel is to kill the command when this process ends
 * @param conflictCode what to exit with when the lock was not acquired in time
 */
record GuardedRun(
        StoreUrl store,
        Wanted wanted,
        HoldOptions options,
        List<String> command,
        @Nullable Duration patience,
        Duration grace,
        @Nullable Duration maxHold,
        String limit,
        boolean dieWithParent,
        int conflictCode) {
    private static final int LONGEST_LABEL = 60;

    /** Less than the library takes, which counts them so. */
    private static final int LONGEST_LABEL_UNITS = 90;

    int call() throws InterruptedException {
        List<String> started = started();
        try (LockClient client = store.open(label(), Optional.of(options.lease()))) {
            Wanted.Way way = wanted.by(client, options);
            try (SignalRelay signals = SignalRelay.install()) {
                Optional<Held> hold = acquire(client, way);
                Optional<OsSignal> ended = signals.stopWaiting();
                if (ended.isPresent()) {
                    hold.ifPresent(this::release);
                    throw stoppedWaiting(ended.get());
                }
                return runHolding(hold.orElseThrow(() -> notAcquired(client)), signals, started);
            }
        }
    }

    /** The command as it is started. */
    List<String> started() {
        return dieWithParent ? ParentDeath.bind(command) : command;
    }

    /** Empty when it could not be acquired in time, or a signal ended the wait. */
    private Optional<Held> acquire(LockClient client, Wanted.Way way) {
        try (WaitNotice notice = new WaitNotice(() -> waiting(client), patience)) {
            return way.acquire(patience);
        } catch (InterruptedException e) {
            return Optional.empty();
        }
    }

    /** Runs the command to its end, and closes the hold. */
    int runHolding(Held hold, SignalRelay signals, List<String> started) throws InterruptedException {
        if (!hold.isValid()) { // this process was stopped, or the machine slept, since the lock was granted
            throw lostBeforeStart(release(hold));
        }
        ChildCommand child;
        try {
            child = ChildCommand.start(started, hold.environment(), !dieWithParent, signals::beforeStart);
        } catch (Throwable e) {
            release(hold);
            throw e;
        }
        return watch(hold, signals, child);
    }

    /** Whatever goes wrong, the command and its descendants are ended before the lock is released. */
    private int watch(Held hold, SignalRelay signals, ChildCommand child) throws InterruptedException {
        HoldWatch.End end;
        List<ProcessHandle> survivors = List.of();
        try {
            signals.attach(child);
            HoldWatch watch = new HoldWatch(hold, maxHold);
            end = watch.untilEndOf(child);
            if (end != HoldWatch.End.COMMAND) {
                sayStopping(
                        end == HoldWatch.End.LOST
                                ? "the hold of " + wantedOnStore() + " is lost"
                                : wantedOnStore() + " has been held for longer than " + longestHold());
                survivors = child.stop(grace);
            }
            if (end == HoldWatch.End.OVERDUE && !survivors.isEmpty()) {
                signals.detach(); // before it is said: whoever reads it may send a signal, which ends the wait
                say("'" + shortCommand() + "' could not be stopped; " + wantedOnStore()
                        + " stays held until these processes end: " + named(survivors) + "; end them as that user");
                survivors = awaitEnd(survivors, signals, child, watch);
            }
        } catch (Throwable e) {
            child.stop(grace);
            release(hold);
            throw e;
        }
        return switch (end) {
            case COMMAND -> finish(hold, "", child.exitCode());
            case LOST -> finish(hold, stopped(survivors), 0);
            case OVERDUE -> throw overdue(release(hold), stopped(survivors));
        };
    }

    /** The processes that still run when the hold is lost or a signal ends the wait; none if all ended before. */
    private List<ProcessHandle> awaitEnd(
            List<ProcessHandle> survivors, SignalRelay signals, ChildCommand child, HoldWatch watch)
            throws InterruptedException {
        List<ProcessHandle> left = survivors;
        watch.resume(); // the hold was not checked during the stop
        while (!left.isEmpty() && !watch.isLost()) {
            Optional<OsSignal> ended = signals.kept();
            if (ended.isPresent()) {
                sayStopping("SIG" + ended.get().name() + " received: " + wantedOnStore()
                        + " is released after a last attempt");
                return child.stop(grace); // a Ctrl-C may have reached them, and they may be tidying up
            }
            TimeUnit.NANOSECONDS.sleep(HoldWatch.POLL.toNanos());
            left = child.stopOthers();
            if (left.isEmpty()) {
                left = child.stop(Duration.ZERO); // searches several times
                watch.resume();
            }
        }
        return left;
    }

    private CliException overdue(Optional<HoldLostException> loss, String stopped) {
        return new CliException(
                ExitCode.HOLD_LOST,
                wantedOnStore() + " was held for longer than " + longestHold() + "; " + stopped,
                loss.orElse(null));
    }

    private String longestHold() {
        return limit + " " + HumanTime.of(Objects.requireNonNull(maxHold));
    }

    private void sayStopping(String why) {
        String afterGrace = grace.isZero() ? ", then SIGKILL" : ", SIGKILL in " + HumanTime.of(grace);
        say(why + "; stopping '" + shortCommand() + "' and its descendants: SIGTERM now" + afterGrace);
    }

    /** The names of programs are others' text. */
    private static void say(String text) {
        System.err.println("holdfast: " + Redaction.ours(text));
    }

    private String stopped(List<ProcessHandle> survivors) {
        if (survivors.isEmpty()) {
            return "'" + shortCommand() + "' was stopped; check what it left";
        }
        return "'" + shortCommand() + "' COULD NOT BE STOPPED and continues without the lock: " + named(survivors)
                + "; end these processes as that user, then check what they left";
    }

    private static String named(List<ProcessHandle> processes) {
        return processes.stream().map(GuardedRun::named).collect(Collectors.joining(", "));
    }

    private static String named(ProcessHandle process) {
        ProcessHandle.Info info = process.info();
        String program = info.command()
                .map(path -> path.substring(path.lastIndexOf('/') + 1))
                .or(() -> ProcStat.program(process))
                .map(name -> name + " ")
                .orElse("");
        return program + "(pid " + process.pid()
                + info.user().map(user -> ", user " + user).orElse("") + ")";
    }

    private NotStartedException lostBeforeStart(Optional<HoldLostException> loss) {
        String why = loss.map(HoldLostException::getMessage).orElse("the hold of " + wantedOnStore() + " is in doubt");
        return new NotStartedException(
                ExitCode.HOLD_LOST,
                why + "; '" + shortCommand() + "' was not started; run it again",
                loss.orElse(null));
    }

    /** A hold that was lost at the very end shows only when it is closed: the command then ran to its end in doubt. */
    private int finish(Held hold, String stopped, int exitCode) {
        Optional<HoldLostException> loss = release(hold);
        if (stopped.isEmpty() && loss.isEmpty()) {
            return exitCode;
        }
        String why = loss.map(HoldLostException::getMessage).orElse("the hold of " + wantedOnStore() + " is in doubt");
        String what = stopped.isEmpty() ? justEnded(exitCode) : stopped;
        throw new CliException(ExitCode.HOLD_LOST, why + "; " + what, loss.orElse(null));
    }

    String justEnded(int exitCode) {
        return "'" + shortCommand() + "' had just ended with " + exitCode + "; check its work";
    }

    /** Releases, and waits for the store's answer; returns a loss that it reports. */
    private Optional<HoldLostException> release(Held hold) {
        try {
            hold.close();
        } catch (HoldLostException e) {
            return Optional.of(e);
        } catch (HoldfastException e) {
            System.err.println("holdfast: "
                    + Redaction.oneLine("the release of " + wantedOnStore()
                            + " was not confirmed; it is free when its lease of " + HumanTime.of(options.lease())
                            + " has expired: " + e.getMessage()));
        }
        return Optional.empty();
    }

    CliException stoppedWaiting(OsSignal signal) {
        return new CliException(
                ExitCode.ofSignal(signal.number()),
                "stopped waiting for " + wantedOnStore() + " by SIG" + signal.name() + "; the command was not run");
    }

    private CliException notAcquired(LockClient client) {
        String waited = patience == null || patience.isZero() ? "immediately" : "within " + HumanTime.of(patience);
        return new CliException(
                conflictCode,
                wantedOnStore() + " could not be acquired " + waited + holder(client)
                        + "; wait longer with --wait, or see '" + store.listCommand() + "'");
    }

    /** What to say on a terminal while it is waited for; empty if the store does not answer, or nobody holds it. */
    private Optional<WaitNotice.Seen> waiting(LockClient client) {
        try {
            return wanted.names().stream()
                    .map(name -> client.lock(name).status())
                    .filter(LockStatus::isHeld)
                    .findFirst()
                    .map(lock -> WaitNotice.Seen.of(
                            lock,
                            wantedOnStore(),
                            holder(lock).orElse(""),
                            client.capabilities().countsWaiters(),
                            ahead(client, lock.name())));
        } catch (HoldfastException e) {
            return Optional.empty();
        }
    }

    /** How many wait ahead of this process; empty where the store does not keep the waiters' names. */
    private static OptionalInt ahead(LockClient client, String name) {
        List<Holder> queue = client.waiters(name).orElse(List.of()).stream()
                .filter(waiter -> waiter.name().equals(name)) // the name may be a pattern too
                .map(LockWaiter::who)
                .toList();
        String host = ThisHost.name();
        long pid = ProcessHandle.current().pid();
        return IntStream.range(0, queue.size())
                .filter(i -> queue.get(i).pid() == pid && queue.get(i).host().equals(host))
                .findFirst();
    }

    /** The holder, for a message; nothing if the store does not answer. */
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
        return lock.grant().map(held -> which + held.holder() + " for " + HumanTime.of(held.heldFor()));
    }

    private String wantedOnStore() {
        return wanted.shown() + " on " + store.shown();
    }

    /** What others see in {@code list}: the command without its folder, as in ps. */
    String label() {
        Path program = Path.of(command.get(0)).getFileName();
        String words = program + " " + String.join(" ", command.subList(1, command.size()));
        return shorten(Redaction.oneLine(words));
    }

    private String shortCommand() {
        return shorten(Redaction.oneLine(String.join(" ", command)));
    }

    private static String shorten(String text) {
        return Printable.shortened(text, LONGEST_LABEL, LONGEST_LABEL_UNITS);
    }
}
