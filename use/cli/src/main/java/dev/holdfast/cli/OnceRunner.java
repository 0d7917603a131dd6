package dev.holdfast.cli;

import dev.holdfast.HoldfastException;
import dev.holdfast.LockClient;
import dev.holdfast.NotBegunException;
import dev.holdfast.Once;
import dev.holdfast.OnceOptions;
import dev.holdfast.OnceResult;
import dev.holdfast.OnceResult.Failed;
import dev.holdfast.OnceResult.Ran;
import dev.holdfast.OnceResult.Skipped;
import dev.holdfast.OnceTurn;
import dev.holdfast.StaleTokenException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * One {@code holdfast once}: asks whether it is done, runs the command as {@code holdfast run} does, and has its end
 * recorded.
 *
 * @param run how the command is run
 * @param skipCode what to exit with when it was skipped
 */
record OnceRunner(GuardedRun run, String name, OnceOptions options, int skipCode) {

    /** The command ended with another code than 0, or the command line itself has to say why it did not run to its end. */
    private static final class CommandFailed extends HoldfastException {
        private static final long serialVersionUID = 1L;
        private final int code;

        CommandFailed(int code) {
            super("exit code " + code);
            this.code = code;
        }

        CommandFailed(CliException why) {
            super(String.valueOf(why.getMessage()), why);
            this.code = why.exitCode();
        }
    }

    int call() throws InterruptedException {
        List<String> started = run.started();
        Duration wait = Objects.requireNonNull(run.patience());
        try (LockClient client = run.store().open(run.label(), Optional.of(options.lease()))) {
            refuseBelowItself(client);
            OnceResult result = result(once(client), wait, started);
            if (result instanceof Skipped skipped) {
                System.err.println("holdfast: " + Redaction.ours(skipped.message()));
                return skipCode;
            }
            if (result instanceof Ran ran && ran.loss().isPresent()) { // at the very end: the run counts as done
                throw new CliException(
                        ExitCode.HOLD_LOST, ran.loss().get().message() + "; " + run.justEnded(ExitCode.OK));
            }
            return result instanceof Failed failed ? failed(failed.cause()) : ExitCode.OK;
        }
    }

    /** Under its own lock it would be skipped each time, as if it ran elsewhere. */
    private void refuseBelowItself(LockClient client) {
        boolean below = HeldAbove.ofThisProcess().stream()
                .anyMatch(above -> above.name().equals(name)
                        && client.lock(name)
                                .status()
                                .grant()
                                .filter(grant -> above.isOf(grant.token()))
                                .isPresent());
        if (below) {
            throw new CliException(
                    ExitCode.USAGE,
                    "'" + name + "' was not run: this command runs under the lock '" + name
                            + "' itself, which 'holdfast once' needs; leave the 'holdfast run' or 'once' around it out, or"
                            + " give one of them another name");
        }
    }

    private OnceResult result(Once once, Duration wait, List<String> started) throws InterruptedException {
        try (SignalRelay signals = SignalRelay.install()) {
            try {
                return once.run(wait, turn -> work(turn, signals, started));
            } catch (InterruptedException e) {
                throw signals.stopWaiting().map(run::stoppedWaiting).orElseThrow(() -> e);
            } catch (NotBegunException e) {
                throw notBegun(signals, e);
            } catch (HoldfastException unrecorded) {
                throw withStop(unrecorded);
            } finally {
                signals.stopWaiting();
            }
        }
    }

    /** An outage may end both the hold and the record of its end: that the command was stopped, or was not, is said too. */
    private static RuntimeException withStop(HoldfastException unrecorded) {
        for (Throwable failure : unrecorded.getSuppressed()) {
            if (failure instanceof CommandFailed && failure.getCause() instanceof CliException why) {
                return new CliException(
                        why.exitCode(),
                        why.getMessage() + "; " + Redaction.oneLine(String.valueOf(unrecorded.getMessage())),
                        unrecorded);
            }
        }
        return unrecorded;
    }

    private Once once(LockClient client) {
        try {
            return client.once(name, options);
        } catch (IllegalArgumentException e) {
            throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
        }
    }

    /** A command that is not started spends no turn: the next process that asks runs it, also with --no-retry. */
    private void work(OnceTurn turn, SignalRelay signals, List<String> started) throws Exception {
        if (signals.stopWaiting().isPresent()) {
            throw new NotBegunException("stopped by a signal");
        }
        if (!turn.isValid()) { // this process was stopped, or the machine slept, since the lock was granted
            throw new NotBegunException(
                    "the lock of '" + name + "' was lost before the command was started; run it again");
        }
        int code;
        try {
            code = run.runHolding(Held.once(turn), signals, started);
        } catch (NotStartedException why) {
            NotBegunException notBegun = new NotBegunException(String.valueOf(why.getMessage()));
            notBegun.initCause(why);
            throw notBegun;
        } catch (CliException why) {
            throw new CommandFailed(why);
        } finally {
            signals.waitAgain(); // for the store, which may not answer when the end is to be recorded
        }
        if (code != ExitCode.OK) {
            throw new CommandFailed(code);
        }
    }

    private CliException notBegun(SignalRelay signals, NotBegunException e) {
        if (e.getCause() instanceof NotStartedException why) {
            return why;
        }
        return signals.kept()
                .map(run::stoppedWaiting)
                .orElseGet(() -> new CliException(ExitCode.HOLD_LOST, String.valueOf(e.getMessage()), e));
    }

    private int failed(Exception cause) throws InterruptedException {
        if (cause instanceof CommandFailed command) {
            if (command.getCause() instanceof CliException why) {
                throw why;
            }
            return command.code;
        }
        if (cause instanceof StaleTokenException) {
            throw new CliException(
                    ExitCode.HOLD_LOST,
                    "'" + name
                            + "' ran to its end, but its lock was lost and another process had begun to run it; check"
                            + " the work of both",
                    cause);
        }
        if (cause instanceof InterruptedException e) {
            throw e;
        }
        throw cause instanceof RuntimeException e ? e : new IllegalStateException(cause);
    }
}
