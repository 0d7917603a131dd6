package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.OnceResult.Failed;
import dev.holdfast.OnceResult.Ran;
import dev.holdfast.OnceResult.Skipped;
import dev.holdfast.OnceResult.Skipped.Why;
import dev.holdfast.OnceRun.State;
import dev.holdfast.Schedule.Period;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One of several servers runs the work, the others skip it. */
class OnceTest extends EngineCase {
    private static final Duration PERIOD = Duration.ofMinutes(10);

    private final OnceOptions options = OnceOptions.every(PERIOD);
    private final Once ours = client.once("w", options);
    private final Once theirs = rival.once("w", options);
    private final List<String> done = new ArrayList<>();

    OnceTest() {
        time.advance(untilNextPeriod());
    }

    @Test
    void aServerThatAsksAfterAShortRunHasEndedSkipsItUntilThePeriodIsOver() {
        assertThat(ours.run(turn -> done.add("ours")).ran()).isTrue();
        OnceResult second = theirs.run(turn -> done.add("theirs"));
        assertThat(second).isInstanceOfSatisfying(Skipped.class, skipped -> {
            assertThat(skipped.why()).isEqualTo(Why.DONE);
            assertThat(skipped.by().orElseThrow().who().pid())
                    .isEqualTo(ProcessHandle.current().pid());
            assertThat(skipped.until()).contains(now().plus(PERIOD));
        });
        time.advance(PERIOD);
        assertThat(theirs.run(turn -> done.add("theirs")).ran()).isTrue();
        assertThat(done).containsExactly("ours", "theirs");
    }

    @Test
    void whileOneRunsTheOthersSkipAndAreToldWhoRuns() {
        OnceResult result = ours.run(turn -> {
            assertThat(theirs.run(never())).isInstanceOfSatisfying(Skipped.class, skipped -> {
                assertThat(skipped.why()).isEqualTo(Why.RUNNING);
                assertThat(skipped.by().orElseThrow().token()).isEqualTo(turn.token());
            });
            assertThat(ours.run(never())).isInstanceOf(Skipped.class);
            assertThat(theirs.last().orElseThrow().state()).isEqualTo(State.BEGUN);
        });
        assertThat(result.ran()).isTrue();
        assertThat(theirs.last().orElseThrow().state()).isEqualTo(State.DONE);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aCallerThatWaitsForTheOtherSkipsWhatThatHasDone(boolean retryCrashed) throws Exception {
        Once waiting = rival.once("w", options.retryCrashed(retryCrashed));
        List<OnceResult> waited = new ArrayList<>();
        CompletableFuture<Void> waits = new CompletableFuture<>();
        Thread second = new Thread(() -> {
            waits.complete(null);
            try {
                waited.add(waiting.run(s(60), turn -> done.add("theirs")));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        assertThat(ours.run(turn -> {
                            second.start();
                            waits.join();
                            soon(() -> client.lock("w").status().waiting() == 1);
                        })
                        .ran())
                .isTrue();
        second.join(s(30).toMillis());
        assertThat(waited)
                .singleElement()
                .isInstanceOfSatisfying(
                        Skipped.class, skipped -> assertThat(skipped.why()).isEqualTo(Why.DONE));
        assertThat(done).isEmpty();
    }

    @Test
    void workThatFailedIsRunAgainInTheSamePeriodUnlessThatIsSwitchedOff() {
        IllegalStateException broken = new IllegalStateException("disk full");
        assertThat(ours.run(turn -> {
                    throw broken;
                }))
                .isInstanceOfSatisfying(Failed.class, failed -> {
                    assertThat(failed.cause()).isSameAs(broken);
                    assertThat(failed.run().failure()).contains("disk full");
                });
        assertThat(theirs.last().orElseThrow().state()).isEqualTo(State.FAILED);
        Once strict = rival.once("w", options.retryFailed(false));
        assertThat(strict.run(never()))
                .isInstanceOfSatisfying(
                        Skipped.class, skipped -> assertThat(skipped.why()).isEqualTo(Why.FAILED));
        assertThat(theirs.run(turn -> done.add("again")).ran()).isTrue();
        time.advance(PERIOD);
        assertThat(strict.run(turn -> done.add("next")).ran()).isTrue();
    }

    @Test
    void anErrorIsThrownToTheCallerAndRecordedAsAFailure() {
        StackOverflowError deep = new StackOverflowError();
        assertThatThrownBy(() -> assertThat(ours.run(turn -> {
                            throw deep;
                        }))
                        .isNull())
                .isSameAs(deep);
        assertThat(ours.last().orElseThrow().state()).isEqualTo(State.FAILED);
        assertThat(client.lock("w").status().isHeld()).isFalse();
    }

    /** Kotlin lets work throw it without a word. */
    @Test
    void whatIsNeitherAnExceptionNorAnErrorIsThrownAndRecordedAndTheLockIsReleased() {
        Throwable neither = new Throwable("neither");
        assertThatThrownBy(() -> assertThat(ours.run(turn -> OnceTest.<RuntimeException>throwAsIs(neither)))
                        .isNull())
                .isSameAs(neither);
        assertThat(client.lock("w").status().isHeld()).isFalse();
        assertThat(ours.last().orElseThrow().state()).isEqualTo(State.FAILED);
        assertThat(theirs.run(turn -> done.add("theirs")).ran()).isTrue();
    }

    @SuppressWarnings("unchecked") // that is what it is for
    private static <E extends Throwable> void throwAsIs(Throwable thrown) throws E {
        throw (E) thrown;
    }

    @Test
    void workWhoseLockWasLostIsRunAgainAndItsLateEndIsRefused() {
        OnceResult result = ours.run(turn -> {
            rival.breakGrant("w", turn.token(), true);
            assertThat(theirs.run(other -> assertThat(other.token()).isGreaterThan(turn.token()))
                            .ran())
                    .isTrue();
        });
        assertThat(result)
                .isInstanceOfSatisfying(
                        Failed.class, failed -> assertThat(failed.cause()).isInstanceOf(StaleTokenException.class));
        assertThat(ours.last().orElseThrow().state()).isEqualTo(State.DONE);
    }

    @Test
    void whatWasBegunIsNotBegunAgainWhereThatIsSwitchedOff() {
        Once strict = rival.once("w", options.retryCrashed(false));
        OnceResult result = ours.run(turn -> {
            rival.breakGrant("w", turn.token(), true);
            assertThat(strict.run(never()))
                    .isInstanceOfSatisfying(
                            Skipped.class, skipped -> assertThat(skipped.why()).isEqualTo(Why.BEGUN));
        });
        assertThat(result.ran()).isTrue();
    }

    @Test
    void workThatTakesLongerThanItMayIsDoneIfNobodyElseHasBegun() {
        Once limited = client.once("w", options.atMost(s(60)).lease(s(10)));
        OnceResult result = limited.run(turn -> {
            advance(80, s(1));
            assertThat(turn.isValid()).isFalse();
        });
        assertThat(result).isInstanceOfSatisfying(Ran.class, ran -> {
            assertThat(ran.loss().orElseThrow().cause()).isEqualTo(Loss.Cause.MAX_HOLD_REACHED);
            assertThat(ran.message()).contains("although");
        });
        assertThat(theirs.run(never())).isInstanceOf(Skipped.class);
    }

    @Test
    void workThatTakesLongerThanItMayFailsIfAnotherHasBegun() {
        Once limited = client.once("w", options.atMost(s(60)).lease(s(10)));
        OnceResult result = limited.run(turn -> {
            advance(80, s(1));
            assertThat(theirs.run(other -> {}).ran()).isTrue();
        });
        assertThat(result).isInstanceOf(Failed.class);
    }

    @Test
    void theStoresClockDecidesThePeriodAndNotTheClients() {
        List<LockClient> wrong = List.of(
                clientOn(memory.open(shifted(-3_600_000)), shifted(-3_600_000)),
                clientOn(memory.open(shifted(5_400_000)), shifted(5_400_000)));
        assertThat(ours.run(turn -> {}).ran()).isTrue();
        for (LockClient each : wrong) {
            assertThat(each.once("w", options).run(never())).isInstanceOf(Skipped.class);
        }
        time.advance(PERIOD);
        assertThat(wrong.get(0).once("w", options).run(turn -> {}).ran()).isTrue();
        assertThat(theirs.run(never())).isInstanceOf(Skipped.class);
        wrong.forEach(LockClient::close);
    }

    @Test
    void aCallShortlyBeforeAPeriodBeginsCountsForThatPeriod() {
        assertThat(ours.run(turn -> {}).ran()).isTrue();
        time.advance(PERIOD.minusSeconds(59));
        Period due = new Period(now().plusSeconds(59), now().plusSeconds(59).plus(PERIOD));
        assertThat(theirs.run(turn -> assertThat(turn.period()).contains(due)).ran())
                .isTrue();
        time.advance(s(120));
        assertThat(ours.run(never())).isInstanceOf(Skipped.class);
        Once exact = client.once("exact", options.early(Duration.ZERO));
        assertThat(exact.run(turn -> {}).ran()).isTrue();
        time.advance(untilNextPeriod().minusMillis(1));
        assertThat(exact.run(never())).isInstanceOf(Skipped.class);
    }

    @Test
    void aKeyIsRunOnceForAsLongAsItIsKept() {
        Once order = client.once("order:42", OnceOptions.keptFor(s(100)));
        assertThat(order.run(turn -> assertThat(turn.period()).isEmpty()).ran()).isTrue();
        time.advance(s(99));
        assertThat(order.run(never())).isInstanceOf(Skipped.class);
        time.advance(s(2));
        assertThat(order.last()).isEmpty();
        assertThat(order.run(turn -> {}).ran()).isTrue();
    }

    @Test
    void aKeyIsKeptFor24HoursUnlessSaidOtherwise() {
        assertThat(client.once("k").run(turn -> {}).ran()).isTrue();
        time.advance(Duration.ofHours(23));
        assertThat(rival.once("k").run(never())).isInstanceOf(Skipped.class);
        time.advance(Duration.ofHours(1));
        assertThat(rival.once("k").run(turn -> {}).ran()).isTrue();
    }

    @Test
    void aMissedPeriodIsToldAndMadeUpForWhereThatIsAskedFor() {
        assertThat(ours.run(turn -> assertThat(turn.lastDone()).isEmpty()).ran())
                .isTrue();
        Instant first = now();
        time.advance(PERIOD.multipliedBy(3));
        Once making = client.once("w", options.makeUp(true));
        List<Instant> ran = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            assertThat(making.run(turn -> ran.add(turn.period().orElseThrow().start()))
                            .ran())
                    .isTrue();
        }
        assertThat(ran)
                .containsExactly(
                        first.plus(PERIOD), first.plus(PERIOD.multipliedBy(2)), first.plus(PERIOD.multipliedBy(3)));
        assertThat(making.run(never())).isInstanceOf(Skipped.class);
        time.advance(PERIOD.multipliedBy(2));
        assertThat(theirs.run(turn -> assertThat(turn.lastDone().orElseThrow().start())
                                .isEqualTo(first.plus(PERIOD.multipliedBy(3))))
                        .ran())
                .isTrue();
    }

    @Test
    void thePeriodOfAFirstRunThatFailedIsMadeUpForToo() {
        Once making = client.once("w", options.makeUp(true));
        Instant first = now();
        assertThat(making.run(turn -> {
                    throw new IllegalStateException("no paper");
                }))
                .isInstanceOf(Failed.class);
        time.advance(PERIOD);
        List<Instant> ran = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            assertThat(making.run(turn -> ran.add(turn.period().orElseThrow().start()))
                            .ran())
                    .isTrue();
        }
        assertThat(ran).containsExactly(first, first.plus(PERIOD));
        assertThat(making.run(never())).isInstanceOf(Skipped.class);
    }

    @Test
    void noRunBeginsTooShortATimeAfterTheLastWhateverCameOfIt() {
        Once slow = client.once("w", options.atLeast(s(30)));
        assertThat(slow.run(turn -> {
                    throw new IllegalStateException("no");
                }))
                .isInstanceOf(Failed.class);
        assertThat(slow.run(never())).isInstanceOfSatisfying(Skipped.class, skipped -> {
            assertThat(skipped.why()).isEqualTo(Why.TOO_SOON);
            assertThat(skipped.until()).contains(now().plusSeconds(30));
        });
        time.advance(s(30));
        assertThat(slow.run(turn -> {}).ran()).isTrue();
    }

    @Test
    void theShortestTimeBetweenRunsOutlivesTheTimeForWhichARecordIsKeptOtherwise() {
        Once rare = client.once("w", options.atLeast(Duration.ofDays(30)));
        assertThat(rare.run(turn -> {}).ran()).isTrue();
        time.advance(Duration.ofDays(29));
        assertThat(rare.run(never()))
                .isInstanceOfSatisfying(
                        Skipped.class, skipped -> assertThat(skipped.why()).isEqualTo(Why.TOO_SOON));
    }

    @Test
    void whatTheWorkThrewIsNotLostWhereItsEndCannotBeRecorded() {
        IllegalStateException thrown = new IllegalStateException("no paper");
        assertThatThrownBy(() -> ours.run(turn -> {
                            line.records = refuses(new StoreRefusedException("read only"));
                            throw thrown;
                        })
                        .message())
                .isInstanceOf(HoldfastException.class)
                .hasMessageContaining("ran and failed")
                .hasMessageContaining("read only")
                .hasSuppressedException(thrown);
    }

    private static HostileStore.Gate refuses(HoldfastException why) {
        return new HostileStore.Gate() {
            @Override
            public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request) {
                return CompletableFuture.failedFuture(why);
            }
        };
    }

    @Test
    void twoProgramsThatDisagreeAboutThePeriodRunForNoTwoThatOverlapAndSaySo() {
        Once hourly = rival.once("w", OnceOptions.every(Duration.ofHours(1)));
        List<Period> ran = new ArrayList<>();
        OnceAction notes = turn -> ran.add(turn.period().orElseThrow());
        try (LogEar ear = new LogEar()) {
            for (int minute = 0; minute < 600; minute++) {
                time.advance(s(60));
                (minute % 2 == 0 ? ours : hourly).run(notes).message();
            }
            assertThat(ear.with("use the same schedule")).hasSizeBetween(1, 2);
        }
        assertThat(ran).hasSizeGreaterThan(9);
        for (int i = 1; i < ran.size(); i++) {
            assertThat(ran.get(i).start()).isAfterOrEqualTo(ran.get(i - 1).end());
        }
    }

    @Test
    void aBeginningOfWhichTheAnswerWasLostIsFoundAndAnEndOfWhichItWasLostIsRepeated() {
        int[] lost = new int[1];
        line.records = new HostileStore.Gate() {
            @Override
            public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request) {
                CompletionStage<T> answer = request.get();
                lost[0]++;
                return lost[0] == 2
                        ? CompletableFuture.failedFuture(new StoreUnavailableException("reply lost"))
                        : answer;
            }
        };
        assertThat(ours.run(turn -> {}).ran()).isTrue(); // where the clock stands still, it pauses for half a second
        assertThat(lost[0])
                .as("the beginning, the end, the end again, the end over itself")
                .isEqualTo(4);
    }

    @Test
    void theRunsThatAreKeptAreListed() {
        assertThat(ours.run(turn -> {}).ran()).isTrue();
        assertThat(rival.once("a").run(turn -> {}).ran()).isTrue();
        assertThat(client.onceRuns("*")).extracting(OnceRun::name).containsExactly("a", "w");
        assertThat(client.onceRuns("w")).singleElement().satisfies(run -> {
            assertThat(run.state()).isEqualTo(State.DONE);
            assertThat(run.period()).contains(new Period(now(), now().plus(PERIOD)));
        });
    }

    @Test
    void aStoreWithoutRecordsRefusesWhenItIsAskedFor() {
        line.caps = can -> can.records(false);
        LockClient poor = clientOn(line, time);
        assertThatThrownBy(() -> poor.once("w"))
                .isInstanceOf(UnsupportedByStoreException.class)
                .hasMessageContaining("'w'")
                .hasMessageContaining("keeps no records");
    }

    @Test
    void aRecordOfAnotherLayoutIsRefused() {
        memory.open(time)
                .writeRecord(new dev.holdfast.spi.RecordWrite("w", 1, -1, "2\tsomething", s(100)))
                .toCompletableFuture()
                .join();
        assertThatThrownBy(() -> ours.run(never()).message())
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("newer version");
        assertThat(client.lock("w").status().isHeld()).isFalse();
        assertThat(client.once("readable").run(turn -> {}).ran()).isTrue();
        try (LogEar ear = new LogEar()) {
            assertThat(client.onceRuns("*")).extracting(OnceRun::name).containsExactly("readable");
            assertThat(ear.with("'w' cannot be read")).hasSize(1);
        }
    }

    @Test
    void periodsAndOptionsOutOfRangeAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> OnceOptions.every(Duration.ofMillis(99)))
                .withMessageContaining("100ms");
        assertThatIllegalArgumentException().isThrownBy(() -> OnceOptions.every(Duration.ofNanos(100_000_001)));
        assertThatIllegalArgumentException().isThrownBy(() -> Schedule.every(PERIOD, PERIOD));
        assertThatIllegalArgumentException().isThrownBy(() -> OnceOptions.keptFor(Duration.ZERO));
        assertThatIllegalArgumentException().isThrownBy(() -> options.atMost(Duration.ofMillis(1)));
        assertThatIllegalArgumentException().isThrownBy(() -> options.lease(Duration.ZERO));
        assertThatIllegalArgumentException().isThrownBy(() -> options.early(Duration.ofSeconds(-1)));
        Once wrong =
                client.once("x", OnceOptions.on(moment -> new Period(Instant.EPOCH, Instant.EPOCH.plusSeconds(1))));
        assertThatThrownBy(() -> wrong.run(never()).message())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("correct the schedule");
    }

    @Test
    void periodsMayBeShifted() {
        Period night =
                Schedule.every(Duration.ofDays(1), Duration.ofHours(3)).periodAt(Instant.parse("2026-01-02T02:59:59Z"));
        assertThat(night)
                .isEqualTo(new Period(Instant.parse("2026-01-01T03:00:00Z"), Instant.parse("2026-01-02T03:00:00Z")));
    }

    private Instant now() {
        return Instant.ofEpochMilli(time.wallMillis());
    }

    private Duration untilNextPeriod() {
        return Duration.between(now(), Schedule.every(PERIOD).periodAt(now()).end());
    }

    /** The same time under a wrong wall clock. */
    private TimeSource shifted(long millis) {
        return new TimeSource() {
            @Override
            public long nanoTime() {
                return time.nanoTime();
            }

            @Override
            public long wallMillis() {
                return time.wallMillis() + millis;
            }

            @Override
            public Scheduled schedule(Runnable task, Duration delay) {
                return time.schedule(task, delay);
            }
        };
    }
}
