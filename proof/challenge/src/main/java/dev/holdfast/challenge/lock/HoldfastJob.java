package dev.holdfast.challenge.lock;

import dev.holdfast.HoldLostException;
import dev.holdfast.LockClient;
import dev.holdfast.Once;
import dev.holdfast.OnceOptions;
import dev.holdfast.OnceResult;
import dev.holdfast.challenge.workload.JobOfPeriod;
import dev.holdfast.spi.Mode;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/** This library's {@code Once}: a turn is a run of the job. */
final class HoldfastJob implements AttackedLock {
    private final Once once;

    HoldfastJob(LockClient client, String name, Duration lease) {
        this.once = client.once(
                name,
                OnceOptions.every(JobOfPeriod.PERIOD)
                        .atMost(JobOfPeriod.AT_MOST)
                        .lease(lease));
    }

    @Override
    public Result turn(Mode mode, Work work) throws Exception {
        try {
            AtomicBoolean begun = new AtomicBoolean();
            OnceResult result = once.run(turn -> {
                begun.set(true);
                work.run(new Grip(
                        turn.token(), turn.period().orElseThrow().start().toEpochMilli(), turn::isValid));
            });
            if (result instanceof OnceResult.Ran ran) {
                return ran.loss().isEmpty() ? Result.DONE : Result.RECORDED;
            }
            return begun.get() ? Result.LOST : Result.BUSY;
        } catch (HoldLostException lost) {
            return Result.LOST;
        }
    }
}
