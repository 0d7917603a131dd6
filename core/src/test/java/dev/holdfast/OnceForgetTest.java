package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.OnceResult.Failed;
import dev.holdfast.OnceResult.Skipped;
import dev.holdfast.OnceRun.State;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A run that is forgotten, and a turn that the work does not take. */
class OnceForgetTest extends EngineCase {
    private static final Duration PERIOD = Duration.ofMinutes(10);

    private final OnceOptions options = OnceOptions.every(PERIOD);
    private final Once ours = client.once("w", options);
    private final Once theirs = rival.once("w", options.retryFailed(false).retryCrashed(false));
    private final List<String> done = new ArrayList<>();

    @Test
    void aPeriodThatWasDoneIsRunAgainAfterItWasForgotten() {
        assertThat(ours.run(turn -> {}).ran()).isTrue();
        assertThat(rival.once("w").forget()).isTrue();
        assertThat(ours.last()).isEmpty();
        assertThat(client.onceRuns("*")).isEmpty();
        assertThat(theirs.run(turn -> done.add("again")).ran()).isTrue();
    }

    @Test
    void aRunForAPeriodFarAheadIsForgotten() {
        Once ahead = client.once("w", OnceOptions.every(Duration.ofDays(366)));
        assertThat(ahead.run(turn -> {}).ran()).isTrue();
        time.advance(PERIOD);
        assertThat(theirs.run(never())).isInstanceOf(Skipped.class);
        assertThat(theirs.forget()).isTrue();
        assertThat(theirs.run(turn -> done.add("again")).ran()).isTrue();
    }

    @Test
    void whatIsForgottenStaysSoWhenTheStoresClockIsSetBack() {
        AtomicLong ahead = new AtomicLong(Duration.ofDays(1).toMillis());
        Store store = memory.open(new TimeSource() {
            @Override
            public long nanoTime() {
                return time.nanoTime();
            }

            @Override
            public long wallMillis() {
                return time.wallMillis() + ahead.get();
            }

            @Override
            public Scheduled schedule(Runnable task, Duration delay) {
                return time.schedule(task, delay);
            }
        });
        store.writeRecord(new RecordWrite("w", 1, RecordWrite.ANY, "done", PERIOD))
                .toCompletableFuture()
                .join();
        store.writeRecord(new RecordWrite("w", 1, RecordWrite.ANY, "done", Duration.ZERO))
                .toCompletableFuture()
                .join();

        ahead.set(0);

        assertThat(store.readRecord("w").toCompletableFuture().join().stored()).isEmpty();
    }

    @Test
    void whileTheWorkRunsItIsNotForgotten() {
        assertThat(ours.run(turn -> assertThat(theirs.forget()).isFalse()).ran())
                .isTrue();
        assertThat(theirs.last().orElseThrow().state()).isEqualTo(State.DONE);
    }

    @Test
    void aRunThatIsDoneIsNotRunByAServerThatReadTheForgottenOneBefore() {
        assertThat(ours.run(turn -> {
                    throw new IllegalStateException("no disk");
                }))
                .isInstanceOf(Failed.class);
        LockClient slow = clientOn(
                new ForwardedStore(memory.open(time)) {
                    @Override
                    public Pending claim(Claim claim, Answer answer) {
                        assertThat(theirs.forget()).isTrue();
                        assertThat(theirs.run(turn -> done.add("theirs")).ran()).isTrue();
                        return super.claim(claim, answer);
                    }
                },
                time);
        assertThat(slow.once("w", options).run(never())).isInstanceOf(Skipped.class);
        assertThat(done).containsExactly("theirs");
        slow.close();
    }

    @Test
    void toForgetWhatWasNeverRunChangesNothing() {
        assertThat(ours.forget()).isTrue();
        assertThat(client.lock("w").status().isHeld()).isFalse();
        assertThat(theirs.run(turn -> {}).ran()).isTrue();
    }

    @Test
    void aRecordThatCannotBeReadIsForgotten() {
        memory.open(time)
                .writeRecord(new RecordWrite("w", 1, RecordWrite.ANY, "of another program", PERIOD))
                .toCompletableFuture()
                .join();
        assertThatThrownBy(() -> ours.run(never()).message()).isInstanceOf(StoreRefusedException.class);
        assertThat(ours.forget()).isTrue();
        assertThat(ours.run(turn -> {}).ran()).isTrue();
    }

    @Test
    void theEndOfARunThatWasForgottenAfterItsLockWasLostIsRefused() {
        OnceResult late = ours.run(turn -> {
            rival.breakGrant("w", turn.token(), true);
            assertThat(theirs.forget()).isTrue();
            time.advance(Duration.ofSeconds(40));
        });
        assertThat(late).isInstanceOf(Failed.class);
        assertThat(theirs.last()).isEmpty();
    }

    // ---- a turn that is not taken ----

    @Test
    void workThatDoesNotBeginLeavesItsTurnToTheNext() {
        NotBegunException stopping = new NotBegunException("this server is being stopped");
        assertThatThrownBy(() -> ours.run(turn -> {
                            throw stopping;
                        })
                        .message())
                .isSameAs(stopping);
        assertThat(ours.last()).isEmpty();
        assertThat(client.lock("w").status().isHeld()).isFalse();
        assertThat(theirs.run(turn -> done.add("theirs")).ran()).isTrue();
    }

    @Test
    void workThatCallsOtherWorkWhichDoesNotBeginHasBegunItself() {
        OnceResult outer = ours.run(turn -> client.once("inner", options).run(inner -> {
            throw new NotBegunException("not now");
        }));
        assertThat(outer).isInstanceOf(Failed.class);
        assertThat(theirs.last().orElseThrow().state()).isEqualTo(State.FAILED);
        assertThat(client.once("inner").last()).isEmpty();
    }

    @Test
    void workThatDoesNotBeginLeavesTheRunBeforeItRecordedAsItWas() {
        assertThat(ours.run(turn -> {}).ran()).isTrue();
        OnceRun before = ours.last().orElseThrow();
        time.advance(PERIOD);
        assertThatThrownBy(() -> ours.run(turn -> {
                            throw new NotBegunException("not now");
                        })
                        .message())
                .isInstanceOf(NotBegunException.class);
        assertThat(theirs.last().orElseThrow())
                .usingRecursiveComparison()
                .ignoringFields("token")
                .isEqualTo(before);
        assertThat(theirs.run(turn -> assertThat(turn.lastDone()).isEqualTo(before.period()))
                        .ran())
                .isTrue();
    }
}
