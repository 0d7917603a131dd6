package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.OnceResult.Failed;
import dev.holdfast.OnceResult.Skipped;
import dev.holdfast.OnceResult.Skipped.Why;
import dev.holdfast.OnceRun.State;
import dev.holdfast.Schedule.Period;
import dev.holdfast.spi.RecordWrite;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Work that runs once, where answers are lost, locks are lost and clocks are wrong. */
class OnceTroubleTest extends EngineCase {
    private static final Duration PERIOD = Duration.ofMinutes(10);

    private final OnceOptions options = OnceOptions.every(PERIOD).lease(s(10));
    private final OnceOptions strict = options.retryCrashed(false);
    private final Once ours = client.once("w", options);
    private final Once theirs = rival.once("w", options);
    private final List<String> done = new ArrayList<>();

    OnceTroubleTest() {
        time.advance(
                Duration.between(now(), Schedule.every(PERIOD).periodAt(now()).end()));
    }

    // ---- a turn that is not taken is not spent ----

    @Test
    void aTurnWhoseLockIsInDoubtBeforeTheWorkBeginsIsNotSpent() {
        line.renews = new HostileStore.RequestLost();
        line.records = atFirst(request -> {
            CompletionStage<?> written = request.get();
            time.advance(s(60)); // this process stands still
            return written;
        });
        assertThatThrownBy(() -> client.once("w", strict).run(never()).message())
                .isInstanceOfAny(HoldLostException.class, StoreUnavailableException.class);

        assertThat(rival.once("w", strict).run(turn -> done.add("theirs")).ran())
                .isTrue();
    }

    @Test
    void theRunBeforeATurnThatWasNotTakenIsRecordedAsItWas() {
        assertThat(theirs.run(turn -> {
                    throw new IllegalStateException("no paper");
                }))
                .isInstanceOf(Failed.class);
        OnceRun before = theirs.last().orElseThrow();
        time.advance(s(20));
        line.renews = new HostileStore.RequestLost();
        line.records = atFirst(request -> {
            CompletionStage<?> written = request.get();
            time.advance(s(60));
            return written;
        });
        assertThatThrownBy(() -> ours.run(never()).message()).isInstanceOf(HoldfastException.class);

        assertThat(theirs.last().orElseThrow())
                .usingRecursiveComparison()
                .ignoringFields("token")
                .isEqualTo(before);
    }

    @Test
    void theWorkRunsThoughTheAnswerToTheWriteOfItsBeginningWasLost() {
        line.records = atFirst(request -> {
            request.get();
            return CompletableFuture.failedFuture(new StoreUnavailableException("reply lost"));
        });
        assertThat(client.once("w", strict).run(turn -> done.add("ours")).ran()).isTrue();
        assertThat(theirs.last().orElseThrow().state()).isEqualTo(State.DONE);
    }

    @Test
    void theWorkRunsThoughTheWriteOfItsBeginningWasLost() {
        line.records =
                atFirst(request -> CompletableFuture.failedFuture(new StoreUnavailableException("request lost")));
        assertThat(client.once("w", strict).run(turn -> done.add("ours")).ran()).isTrue();
    }

    /** As on Redis with {@code acks}, while its replicas are away: a failover may still undo the write. */
    @Test
    void workWhoseBeginningIsWrittenAndNeverConfirmedIsNotBegun() {
        line.records = atEach(this::unconfirmed);
        assertThatThrownBy(() -> ours.run(never()).message()).isInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void workWhoseEndIsWrittenAndNeverConfirmedIsNotSaidToHaveRun() {
        assertThatThrownBy(() -> ours.run(turn -> line.records = atEach(this::unconfirmed))
                        .message())
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("its end could not be recorded");
    }

    /** The record still says that it has begun, as it did before the work. */
    @Test
    void workWhoseEndCannotBeWrittenIsNotRunTwiceByOneCall() {
        OnceOptions brief = options.lease(s(1));
        assertThatThrownBy(() -> client.once("w", brief)
                        .run(turn -> {
                            done.add("ours");
                            line.records = atEach(request -> {
                                advance(3, s(0.5)); // the hold is renewed
                                return CompletableFuture.failedFuture(new StoreUnavailableException("request lost"));
                            });
                        })
                        .message())
                .isInstanceOf(StoreUnavailableException.class);
        assertThat(done).containsExactly("ours");
    }

    private CompletionStage<?> unconfirmed(Supplier<? extends CompletionStage<?>> request) {
        request.get();
        advance(8, s(0.5)); // the hold is renewed
        return CompletableFuture.failedFuture(new StoreUnavailableException("too few replicas"));
    }

    @Test
    void aBeginningWhoseRepetitionIsRefusedIsTakenBack() {
        line.records = atFirst(request -> {
            request.get();
            line.records =
                    atFirst(again -> CompletableFuture.failedFuture(new StoreRefusedException("no right to write")));
            return CompletableFuture.failedFuture(new StoreUnavailableException("reply lost"));
        });
        assertThatThrownBy(() -> client.once("w", strict).run(never()).message())
                .isInstanceOf(StoreRefusedException.class);
        assertThat(theirs.last()).isEmpty();
    }

    /** A password that is changed while the write is under way, and corrected soon after. */
    @Test
    void theWorkRunsThoughAReadIsRefusedAfterTheAnswerToTheWriteOfItsBeginningWasLost() {
        line.records = atFirst(request -> {
            request.get();
            line.recordReads =
                    atFirst(read -> CompletableFuture.failedFuture(new StoreRefusedException("wants a log-in")));
            return CompletableFuture.failedFuture(new StoreUnavailableException("reply lost"));
        });
        assertThat(client.once("w", strict).run(turn -> done.add("ours")).ran()).isTrue();
        assertThat(theirs.last().orElseThrow().state()).isEqualTo(State.DONE);
    }

    /** What may have been written counts until the end, not only until the next answer. */
    @Test
    void theWorkRunsThoughAReadIsRefusedAfterTheSecondWriteOfABeginningWhoseFirstAnswerWasLost() {
        line.records = atFirst(request -> {
            request.get();
            line.records = atFirst(again -> {
                line.recordReads =
                        atFirst(read -> CompletableFuture.failedFuture(new StoreRefusedException("wants a log-in")));
                return CompletableFuture.completedFuture(Optional.empty());
            });
            return CompletableFuture.failedFuture(new StoreUnavailableException("reply lost"));
        });
        assertThat(client.once("w", strict).run(turn -> done.add("ours")).ran()).isTrue();
        assertThat(theirs.last().orElseThrow().state()).isEqualTo(State.DONE);
    }

    @Test
    void aBeginningThatIsRefusedAgainAndAgainIsGivenUp() {
        line.records = atEach(request -> {
            advance(8, s(0.5)); // the hold is renewed
            return CompletableFuture.completedFuture(Optional.empty());
        });
        assertThatThrownBy(() -> ours.run(never()).message())
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("the record of 'w'");
        assertThat(client.lock("w").status().isHeld()).isFalse();
    }

    // ---- the lock is lost between the grant and the beginning ----

    @Test
    void aServerThatWasOvertakenSaysThatTheOtherHasDoneIt() {
        line.records = atFirst(request -> {
            overtake();
            assertThat(theirs.run(turn -> done.add("theirs")).ran()).isTrue();
            return request.get();
        });
        assertThat(ours.run(never())).isInstanceOfSatisfying(Skipped.class, skipped -> {
            assertThat(skipped.why()).isEqualTo(Why.DONE);
            assertThat(skipped.by()).isPresent();
        });
    }

    @Test
    void aServerThatWasOvertakenByARunThatFailedReportsTheLossOfItsLock() {
        line.records = atFirst(request -> {
            overtake();
            assertThat(theirs.run(turn -> {
                        throw new IllegalStateException("no paper");
                    }))
                    .isInstanceOf(Failed.class);
            return request.get();
        });
        assertThatThrownBy(() -> ours.run(never()).message())
                .isInstanceOfAny(HoldLostException.class, StoreUnavailableException.class);
        assertThat(theirs.last().orElseThrow().state()).isEqualTo(State.FAILED);
    }

    @Test
    void anEndThatComesAfterTheRecordOfAnotherRunHasGoneIsRefused() {
        OnceOptions kept = OnceOptions.keptFor(s(100)).lease(s(10));
        Once theirKey = rival.once("k", kept);
        OnceResult late = client.once("k", kept).run(turn -> {
            rival.breakGrant("k", turn.token(), true);
            assertThat(theirKey.run(other -> done.add("theirs")).ran()).isTrue();
            advance(20, s(10));
        });
        assertThat(late)
                .isInstanceOfSatisfying(
                        Failed.class,
                        failed -> assertThat(failed.cause())
                                .isInstanceOf(StoreRefusedException.class)
                                .hasMessageContaining("'k'")
                                .hasMessageContaining("its end was not recorded"));
        assertThat(theirKey.run(again -> done.add("again")).ran()).isTrue();
    }

    // ---- clocks ----

    @Test
    void aRecordWithATokenFromAClockThatWasAheadDoesNotKeepTheNextPeriodFromRunning() {
        long ahead = (1L << 51) * 1024;
        Period before = new Period(now().minus(PERIOD), now());
        OnceRun run = new OnceRun(
                "w",
                State.DONE,
                ahead,
                new Holder("host", 1, "", ""),
                Optional.of(before),
                before.start(),
                Optional.empty(),
                Optional.empty(),
                "");
        String value = new OnceRecord(run, Duration.ZERO, Optional.of(before)).encode();
        assertThat(memory.open(time)
                        .writeRecord(new RecordWrite("w", ahead, RecordWrite.ANY, value, PERIOD))
                        .toCompletableFuture()
                        .join())
                .isPresent();

        assertThat(ours.run(turn -> assertThat(turn.token()).isGreaterThan(ahead))
                        .ran())
                .isTrue();
    }

    // ---- wrong input ----

    @Test
    void aNegativeWaitIsRefusedAlsoWhereNothingIsToBeDone() {
        assertThat(ours.run(turn -> {}).ran()).isTrue();
        assertThatIllegalArgumentException().isThrownBy(() -> ours.run(s(-1), never()));
    }

    @Test
    void aToleranceAsLongAsThePeriodIsRefused() {
        Once hasty = client.once("w", options.early(PERIOD));
        assertThatThrownBy(() -> hasty.run(never()).message())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("make it shorter");
    }

    @Test
    void periodsThatARecordCannotKeepAreRefused() {
        Instant start = now().minusNanos(500_000);
        for (Period period :
                List.of(new Period(start, start.plusSeconds(60)), new Period(now(), now().plusMillis(99)))) {
            Once wrong = client.once("w", OnceOptions.on(moment -> period).early(Duration.ZERO));
            assertThatThrownBy(() -> wrong.run(never()).message())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("correct the schedule");
        }
    }

    @Test
    void aFailureThatCannotBeReadIsRecordedByItsClass() {
        OnceResult result = ours.run(turn -> {
            throw new UnreadableException();
        });
        assertThat(result).isInstanceOf(Failed.class);
        assertThat(result.message()).contains(UnreadableException.class.getName());
        OnceRun last = theirs.last().orElseThrow();
        assertThat(last.state()).isEqualTo(State.FAILED);
        assertThat(last.failure()).isEqualTo(UnreadableException.class.getName());
    }

    @Test
    void aFailureWithoutATextIsRecordedByItsClass() {
        @SuppressWarnings({"OverrideThrowableToString", "ToStringReturnsNull"}) // an application may do so
        class Silent extends Exception {
            private static final long serialVersionUID = 1L;

            @Override
            public String toString() {
                return null;
            }
        }
        assertThat(ours.run(turn -> {
                    throw new Silent();
                }))
                .isInstanceOf(Failed.class);
        assertThat(theirs.last().orElseThrow().failure()).isEqualTo(Silent.class.getName());
    }

    @Test
    void aLongFailureIsCutInCharactersThatEveryDatabaseKnows() {
        assertThat(ours.run(turn -> {
                    throw new IllegalStateException("x".repeat(500));
                }))
                .isInstanceOf(Failed.class);
        assertThat(theirs.last().orElseThrow().failure()).hasSize(200).endsWith("x...");
    }

    @Test
    void aFailureInAnyLanguageIsKeptInCharactersThatEveryDatabaseKnows() {
        String failure = "caf\u00e9 \u2192 \u5931\u8d25 C:\\u0041";
        assertThat(ours.run(turn -> {
                    throw new IllegalStateException(failure);
                }))
                .isInstanceOf(Failed.class);
        assertThat(theirs.last().orElseThrow().failure()).endsWith(failure);
        assertThat(memory.open(time)
                        .readRecord("w")
                        .toCompletableFuture()
                        .join()
                        .stored()
                        .orElseThrow()
                        .value())
                .matches("[\\t -~]*");
    }

    // ---- what the cases share ----

    /** What becomes of a request. */
    private interface Handling {
        CompletionStage<?> of(Supplier<? extends CompletionStage<?>> request);
    }

    /** The first request of its kind is handled this way; the others pass. */
    private static HostileStore.Gate atFirst(Handling first) {
        AtomicInteger requests = new AtomicInteger();
        return atEach(request -> requests.getAndIncrement() == 0 ? first.of(request) : request.get());
    }

    private static HostileStore.Gate atEach(Handling handling) {
        return new HostileStore.Gate() {
            @Override
            @SuppressWarnings("unchecked") // the answer to a write of a record is of one type
            public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request) {
                return (CompletionStage<T>) handling.of(request);
            }
        };
    }

    /** Breaks the lock of ours, so that theirs gets it. */
    private void overtake() {
        long token = rival.lock("w").status().grant().orElseThrow().token();
        assertThat(rival.breakGrant("w", token, true)).isTrue();
    }

    private Instant now() {
        return Instant.ofEpochMilli(time.wallMillis());
    }
}
