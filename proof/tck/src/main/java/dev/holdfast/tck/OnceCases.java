package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.LockClient;
import dev.holdfast.Once;
import dev.holdfast.OnceOptions;
import dev.holdfast.OnceResult;
import dev.holdfast.OnceResult.Failed;
import dev.holdfast.OnceResult.Skipped;
import dev.holdfast.OnceRun;
import dev.holdfast.Schedule.Period;
import dev.holdfast.StaleTokenException;
import dev.holdfast.UnsupportedByStoreException;
import dev.holdfast.spi.RecordReading;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoredRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Records that are admitted by token, and the work that they let run once. */
abstract class OnceCases extends Cases {
    private static final Duration LONG = Duration.ofMinutes(10);

    /** Above what a double can tell apart. */
    private static final long BIG = (1L << 62) + 1;

    private static final int CLIENTS = 4;

    OnceCases(StoreContract contract) {
        super(contract);
    }

    // ---- records ----

    @Test
    void aRecordIsReadByOthersAsItWasWrittenWithTheStoresTime() {
        assumeRecords();
        String name = rig.name();
        String value = "1\tétat \uD83D\uDE00 'quoted' \"twice\" \\ {brace} 100% \t" + "x".repeat(1_400);
        Store one = rig.store();
        RecordReading before = read(one, name);
        assertThat(before.stored()).isEmpty();
        StoredRecord written = write(one, name, 7, RecordWrite.ABSENT, value).orElseThrow();
        RecordReading after = read(rig.store(), name);
        assertThat(after.stored()).contains(written);
        assertThat(written.name()).isEqualTo(name);
        assertThat(written.value()).isEqualTo(value);
        assertThat(written.token()).isEqualTo(7);
        assertThat(written.revision()).isBetween(1L, Long.MAX_VALUE - 1);
        assertThat(written.writtenAt()).isBetween(before.now(), after.now());
    }

    @Test
    void aTokenBelowTheRecordedOneIsRefusedAndChangesNothing() {
        assumeRecords();
        String name = rig.name();
        Store store = rig.store();
        long first = write(store, name, BIG, RecordWrite.ANY, "a").orElseThrow().revision();
        assertThat(write(store, name, BIG - 1, RecordWrite.ANY, "lower")).isEmpty();
        assertThat(write(store, name, 5, RecordWrite.ANY, "much lower")).isEmpty();
        assertThat(stored(store, name))
                .extracting(StoredRecord::value, StoredRecord::token)
                .containsExactly("a", BIG);
        long second =
                write(store, name, BIG, RecordWrite.ANY, "same").orElseThrow().revision();
        assertThat(second).isGreaterThan(first);
        assertThat(write(store, name, BIG + 1, RecordWrite.ANY, "higher")
                        .orElseThrow()
                        .revision())
                .isGreaterThan(second);
        assertThat(stored(store, name).value()).isEqualTo("higher");
    }

    @Test
    void aWriteThatExpectsAnotherRevisionIsRefused() {
        assumeRecords();
        String name = rig.name();
        Store store = rig.store();
        assertThat(write(store, name, 1, 1, "no record yet")).isEmpty();
        long first =
                write(store, name, 1, RecordWrite.ABSENT, "first").orElseThrow().revision();
        assertThat(write(store, name, 2, RecordWrite.ABSENT, "there is one")).isEmpty();
        assertThat(write(store, name, 2, first + 1, "too new")).isEmpty();
        assertThat(write(store, name, 2, Long.MAX_VALUE, "never")).isEmpty();
        assertThat(write(store, name, 2, first, "second")).isPresent();
        assertThat(write(store, name, 3, first, "too old")).isEmpty();
        assertThat(stored(store, name).value()).isEqualTo("second");
    }

    @Test
    void ofManyWhoWriteOverTheSameRevisionOneSucceeds() {
        assumeRecords();
        List<Store> stores = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            stores.add(rig.store());
        }
        for (int round = 0; round < 10; round++) {
            String name = rig.name();
            for (int write = 0; write < 3; write++) {
                long expected = read(stores.get(0), name)
                        .stored()
                        .map(StoredRecord::revision)
                        .orElse(RecordWrite.ABSENT);
                AtomicInteger admitted = new AtomicInteger();
                Rig.Body[] writers = stores.stream()
                        .map(store -> (Rig.Body) () -> {
                            if (write(store, name, 1, expected, "x").isPresent()) {
                                admitted.incrementAndGet();
                            }
                        })
                        .toArray(Rig.Body[]::new);
                rig.race(writers);
                assertThat(admitted).as("over revision " + expected).hasValue(1);
            }
        }
    }

    @Test
    void aRecordWhoseTimeHasPassedCountsAsAbsent() {
        assumeRecords();
        String name = rig.name();
        Store store = rig.store();
        Duration keep = Duration.ofMillis(200);
        long before = answer(store.writeRecord(new RecordWrite(name, 9, RecordWrite.ANY, "brief", keep)))
                .orElseThrow()
                .revision();
        rig.patience.until(
                "the end of the record", () -> read(store, name).stored().isEmpty());
        assertThat(list(store, name)).isEmpty();
        StoredRecord fresh = write(store, name, 3, RecordWrite.ABSENT, "new").orElseThrow();
        assertThat(fresh.revision()).isGreaterThan(before);
        assertThat(stored(store, name)).isEqualTo(fresh);
        assertThat(write(store, name, 10, before, "over the one that is gone")).isEmpty();
    }

    @Test
    void aRecordThatIsKeptForNoTimeIsGoneAtOnce() {
        assumeRecords();
        String name = rig.name();
        Store store = rig.store();
        long old =
                write(store, name, 9, RecordWrite.ABSENT, "old").orElseThrow().revision();
        assertThat(answer(store.writeRecord(new RecordWrite(name, 9, old + 1, "old", Duration.ZERO))))
                .as("over another revision")
                .isEmpty();
        assertThat(answer(store.writeRecord(new RecordWrite(name, 8, old, "old", Duration.ZERO))))
                .as("under a lower token")
                .isEmpty();
        assertThat(answer(store.writeRecord(new RecordWrite(name, 9, old, "old", Duration.ZERO))))
                .isPresent();
        assertThat(read(store, name).stored()).isEmpty();
        assertThat(list(store, name)).isEmpty();
        assertThat(write(store, name, 1, old, "over the one that is gone")).isEmpty();
        assertThat(write(store, name, 1, RecordWrite.ABSENT, "new")).isPresent();
    }

    @Test
    void revisionsOfANameNeverRepeatHoweverOftenItsRecordIsRemoved() {
        assumeRecords();
        String name = rig.name();
        Store store = rig.store();
        long last = 0;
        for (int life = 0; life < 5; life++) {
            long read = RecordWrite.ABSENT;
            for (int write = 0; write < 3; write++) {
                long written = write(store, name, 1, read, "x").orElseThrow().revision();
                assertThat(written).isGreaterThan(last);
                read = written;
                last = written;
            }
            assertThat(answer(store.writeRecord(new RecordWrite(name, 1, read, "x", Duration.ZERO))))
                    .isPresent();
        }
        long made =
                write(store, name, 1, RecordWrite.ABSENT, "again").orElseThrow().revision();
        for (long early : new long[] {1, 2, 3, last - 1, last, made - 1, made + 1}) {
            assertThat(write(store, name, 2, early, "of one that read before")).isEmpty();
        }
        assertThat(stored(store, name).value()).isEqualTo("again");
    }

    @Test
    void recordsAreListedByTheBeginningOfTheirNames() {
        assumeRecords();
        String prefix = rig.name();
        Store store = rig.store();
        List<String> names = List.of(
                prefix + "A",
                prefix + "a",
                prefix + "a ",
                prefix + "a%",
                prefix + "a/b",
                prefix + "a_",
                prefix + "a{b}",
                prefix + "b'",
                prefix + "é");
        names.forEach(
                name -> assertThat(write(store, name, 1, RecordWrite.ANY, name)).isPresent());
        assertThat(list(store, prefix)).extracting(StoredRecord::name).containsExactlyElementsOf(names);
        assertThat(list(store, prefix))
                .allSatisfy(each -> assertThat(each.value()).isEqualTo(each.name()));
        assertThat(list(store, prefix + "a")).hasSize(6);
        assertThat(list(store, prefix + "a_")).hasSize(1);
    }

    @Test
    void recordsAndLocksOfOneNameDoNotTouchEachOther() {
        assumeRecords();
        String name = rig.name();
        RawClient raw = rig.raw();
        assertThat(write(raw.store, name, BIG, RecordWrite.ANY, "beside")).isPresent();
        assertThat(answer(raw.store.list(name))).isEmpty();
        var grant = raw.hold(name);
        assertThat(list(raw.store, name)).hasSize(1);
        assertThat(answer(raw.store.list(name))).hasSize(1);
        assertThat(raw.release(grant)).isTrue();
        assertThat(stored(raw.store, name).value()).isEqualTo("beside");
    }

    @Test
    void aStoreThatKeepsRecordsRunsWorkOnceAndAnyOtherRefusesClearly() {
        String name = rig.name();
        if (rig.capabilities().records()) {
            assertThat(rig.client().once(name).run(turn -> {}).ran()).isTrue();
        } else {
            assertThatThrownBy(() -> rig.client().once(name)).isInstanceOf(UnsupportedByStoreException.class);
            assertThatThrownBy(() -> read(rig.store(), name)).hasStackTraceContaining("keeps no records");
        }
    }

    // ---- once ----

    @Test
    void oneOfManyRunsInAPeriodAndTheOthersSkip() {
        assumeRecords();
        String name = rig.name();
        OnceOptions options = OnceOptions.every(Duration.ofDays(366)).early(Duration.ZERO);
        List<Once> all = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            all.add(rig.client().once(name, options));
        }
        AtomicInteger runs = new AtomicInteger();
        ConcurrentLinkedQueue<OnceResult> results = new ConcurrentLinkedQueue<>();
        for (int round = 0; round < 5; round++) {
            rig.race(all.stream()
                    .map(once -> (Rig.Body) () -> results.add(once.run(turn -> runs.incrementAndGet())))
                    .toArray(Rig.Body[]::new));
        }
        assertThat(runs).hasValue(1);
        assertThat(results).filteredOn(OnceResult::ran).hasSize(1);
        assertThat(results).filteredOn(Skipped.class::isInstance).hasSize(5 * CLIENTS - 1);
    }

    @Test
    void noPeriodHasTwoRunsAndNoTwoRunAtATime() {
        assumeRecords();
        String name = rig.name();
        OnceOptions options = OnceOptions.every(Duration.ofMillis(200));
        ConcurrentLinkedQueue<Period> ran = new ConcurrentLinkedQueue<>();
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<Future<?>> servers = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            Once once = rig.client().once(name, options);
            servers.add(rig.fork(() -> {
                while (ran.size() < 8) {
                    once.run(turn -> {
                                most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                                ran.add(turn.period().orElseThrow());
                                inside.decrementAndGet();
                            })
                            .message();
                }
                return null;
            }));
        }
        servers.forEach(server -> rig.patience.times(2).result(server, "enough periods"));
        assertThat(ran).doesNotHaveDuplicates();
        assertThat(most).hasValue(1);
    }

    @Test
    void workThatLostItsLockIsRunAgainAndItsOwnEndIsRefused() {
        assumeRecords();
        String name = rig.name();
        LockClient other = rig.client();
        Once theirs = other.once(name);
        OnceResult first = rig.client().once(name).run(turn -> {
            assertThat(other.breakGrant(name, turn.token(), true)).isTrue();
            OnceResult second = rig.patience.untilPresent(
                    "the second run",
                    () -> Optional.of(theirs.run(
                                    again -> assertThat(again.token()).isGreaterThan(turn.token())))
                            .filter(OnceResult::ran));
            assertThat(second.ran()).isTrue();
        });
        assertThat(first)
                .isInstanceOfSatisfying(
                        Failed.class, failed -> assertThat(failed.cause()).isInstanceOf(StaleTokenException.class));
        assertThat(theirs.last().orElseThrow().state()).isEqualTo(OnceRun.State.DONE);
        assertThat(other.onceRuns(name)).hasSize(1);
    }

    @Test
    void aRunThatIsForgottenIsRunAgain() {
        assumeRecords();
        String name = rig.name();
        Once ours = rig.client().once(name);
        Once theirs = rig.client().once(name);
        assertThat(ours.run(turn -> assertThat(theirs.forget()).isFalse()).ran())
                .isTrue();
        assertThat(theirs.run(turn -> {}).ran()).isFalse();
        assertThat(theirs.forget()).isTrue();
        assertThat(ours.last()).isEmpty();
        assertThat(theirs.run(turn -> {}).ran()).isTrue();
    }

    private void assumeRecords() {
        assumeTrue(rig.capabilities().records(), "this store keeps no records");
    }

    private RecordReading read(Store store, String name) {
        return answer(store.readRecord(name));
    }

    private StoredRecord stored(Store store, String name) {
        return read(store, name).stored().orElseThrow(() -> new AssertionError("no record of '" + name + "'"));
    }

    private Optional<StoredRecord> write(Store store, String name, long token, long revision, String value) {
        return answer(store.writeRecord(new RecordWrite(name, token, revision, value, LONG)));
    }

    private List<StoredRecord> list(Store store, String prefix) {
        return answer(store.listRecords(prefix));
    }

    private <T> T answer(CompletionStage<T> asked) {
        return rig.patience.answer(asked, "a record");
    }
}
