package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.LockMode;
import dev.holdfast.UnsupportedByStoreException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Read-write locks through the engine: many read or one writes, and who came first is served first. */
abstract class ReadWriteCases extends SharedCases {
    private static final int CLIENTS = 3;
    private static final int READERS_EACH = 3;
    private static final int PASSES = 40;

    /** For so long readers join without asking for writers; a machine that stalls for half of it ends the stream itself. */
    private static final Duration JOINING = Duration.ofMillis(200);

    private static final Duration READING = Duration.ofMillis(5);

    private static final HoldOptions STRICT = AWAITED.strictFifo(true);

    ReadWriteCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void aStoreWithoutReadersSaysSoWhenTheLockIsMade() throws Exception {
        LockClient client = rig.client();
        if (rig.capabilities().modes().contains(LockMode.SHARED)) {
            client.readWriteLock(rig.name()).read().acquire().close();
        } else {
            assertThatThrownBy(() -> client.readWriteLock(rig.name())).isInstanceOf(UnsupportedByStoreException.class);
        }
    }

    @Test
    void writersAreAloneAndReadersSeeNoneOfThem() {
        exclude(HoldOptions.defaults());
    }

    @Test
    void theyAreSoInStrictOrderToo() {
        exclude(HoldOptions.defaults().strictFifo(true));
    }

    private void exclude(HoldOptions options) {
        assumeShared();
        String name = rig.name();
        SharedSection section = new SharedSection();
        List<Rig.Body> threads = new ArrayList<>();
        for (int c = 0; c < CLIENTS; c++) {
            DistributedReadWriteLock lock = rig.client().readWriteLock(name, options);
            for (int t = 0; t < READERS_EACH; t++) {
                threads.add(() -> {
                    for (int i = 0; i < PASSES; i++) {
                        try (Hold hold = lock.read().acquire()) {
                            section.read(hold);
                        }
                    }
                });
            }
            threads.add(() -> {
                for (int i = 0; i < PASSES; i++) {
                    try (Hold hold = lock.write().acquire()) {
                        section.write(hold);
                    }
                }
            });
        }
        together("readers and writers of '" + name + "'", threads);
        section.assertPassed(CLIENTS * (READERS_EACH + 1) * PASSES);
    }

    @Test
    void readersOfSeveralClientsShareAndKeepAWriterOut() throws Exception {
        List<DistributedReadWriteLock> locks = locks(3, AWAITED);
        Hold one = locks.get(0).read().acquire();
        Hold two = locks.get(1).read().acquire();
        assertThat(one.isValid()).isTrue();
        assertThat(two.isValid()).isTrue();
        assertThat(locks.get(2).write().tryAcquire()).isEmpty();
        one.close();
        assertThat(locks.get(2).write().tryAcquire()).as("with one reader left").isEmpty();
        two.close();

        Hold writing = locks.get(2).write().acquire();

        assertThat(writing.token()).isGreaterThan(Math.max(one.token(), two.token()));
        assertThat(locks.get(0).read().tryAcquire()).isEmpty();
        assertThat(locks.get(1).write().tryAcquire()).isEmpty();
        writing.close();
        try (Hold after = locks.get(0).read().acquire()) {
            assertThat(after.token()).isGreaterThan(writing.token());
        }
    }

    @Test
    void whoeverWasHereAndIsGoneKeepsNobodyOfTheSameClientOut() throws Exception {
        DistributedReadWriteLock lock = locks(1, HoldOptions.defaults()).get(0);
        for (int i = 0; i < PASSES; i++) {
            lock.read().acquire().close();
            lock.write().tryAcquire().orElseThrow().close();
            lock.read().tryAcquire().orElseThrow().close();
        }
    }

    @Test
    void noReaderComesInBeforeAWriterOfAnotherClientWhoWaits() throws Exception {
        assumeFair();
        rig.unhurried(this::aWriterIsServedBeforeReadersWhoCameLater);
    }

    private void aWriterIsServedBeforeReadersWhoCameLater() throws Exception {
        RawClient raw = rig.raw();
        List<DistributedReadWriteLock> locks = locks(3, STRICT);
        String name = locks.get(0).name();
        Hold reading = locks.get(0).read().acquire();
        CompletableFuture<Hold> writer = locks.get(1).write().acquireAsync();
        raw.awaitWaiting(name, 1);

        assertThat(locks.get(2).read().tryAcquire()).isEmpty();
        assertThat(locks.get(0).read().tryAcquire())
                .as("of the client that reads")
                .isEmpty();
        CompletableFuture<Hold> late = locks.get(2).read().acquireAsync();
        raw.awaitWaiting(name, 2);
        CompletableFuture<Hold> later = locks.get(0).read().acquireAsync();
        raw.awaitWaiting(name, 3);
        servedFirst(reading::close, writer, late);

        Hold writing = rig.patience.result(writer, "the writer");
        assertThat(late).isNotDone();
        assertThat(later).isNotDone();
        writing.close();
        Hold lateHold = rig.patience.result(late, "the reader behind the writer");
        Hold laterHold = rig.patience.result(later, "the reader beside it");
        assertThat(lateHold.isValid() && laterHold.isValid()).as("both at once").isTrue();
        assertThat(Math.min(lateHold.token(), laterHold.token())).isGreaterThan(writing.token());
        lateHold.close();
        laterHold.close();
    }

    @Test
    void noReaderComesInBeforeAWriterOfItsOwnClientWhoWaits() throws Exception {
        assumeFair();
        rig.unhurried(this::aWriterIsServedBeforeAReaderOfItsClient);
    }

    /** The writer has no place in the store's queue while another of its client holds, which hands nothing over. */
    private void aWriterIsServedBeforeAReaderOfItsClient() throws Exception {
        DistributedReadWriteLock lock =
                locks(1, HoldOptions.defaults().handOver(0, JOINING)).get(0);
        Hold first = lock.write().acquire();
        CompletableFuture<Hold> writer = lock.write().acquireAsync();
        CompletableFuture<Hold> late = lock.read().acquireAsync();
        servedFirst(first::close, writer, late);

        Hold writing = rig.patience.result(writer, "the writer");
        assertThat(late).isNotDone();
        writing.close();
        Hold reading = rig.patience.result(late, "the reader behind the writer");
        assertThat(reading.token()).isGreaterThan(writing.token());
        reading.close();
    }

    @Test
    void aStreamOfReadersOfAnotherClientDoesNotStarveAWriter() throws Exception {
        assumeFair();
        RawClient raw = rig.raw();
        List<DistributedReadWriteLock> locks = locks(2, HoldOptions.defaults().handOver(64, JOINING));
        for (int round = 0; round < 3; round++) {
            Hold reading = locks.get(0).read().acquire();
            CompletableFuture<Hold> writer = locks.get(1).write().acquireAsync();
            raw.awaitWaiting(reading.name(), 1);

            Future<Boolean> stream = rig.fork(() -> readOnUntilNobodyJoins(locks.get(0), reading));

            rig.patience.result(stream, "the end of a stream of readers beside a writer who waits");
            rig.patience.result(writer, "the writer").close();
        }
    }

    /** One reader goes when the next is in, without a gap: nothing but the lock's order can let a writer in. */
    private boolean readOnUntilNobodyJoins(DistributedReadWriteLock lock, Hold first) {
        Hold reading = first;
        for (Optional<Hold> next = lock.read().tryAcquire();
                next.isPresent();
                next = lock.read().tryAcquire()) {
            reading.close();
            reading = next.get();
            rig.pass(READING); // a grant has tokens for a thousand readers, which must not be what ends the stream
            assertThat(reading.id()).as("none but by the grant that stood").isEqualTo(first.id());
        }
        reading.close();
        return true;
    }

    @Test
    void aDeadReaderKeepsAWriterOutNoLongerThanItsLease() throws Exception {
        assumeShared();
        DistributedReadWriteLock lock = rig.client().readWriteLock(rig.name());
        RawClient doomed = rig.raw();
        doomed.hold(Claims.lease(Claims.mode(Claims.of(lock.name()), Mode.SHARED), rig.brief()));

        doomed.store.close();

        rig.patience.result(lock.write().acquireAsync(), "the writer").close();
    }

    @Test
    void breakingOneReaderLeavesTheOthers() {
        assumeShared();
        Claim reader = Claims.mode(Claims.of(rig.name()), Mode.SHARED);
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        Grant shown = one.hold(reader);
        Grant other = two.hold(Claims.mode(Claims.of(reader.name()), Mode.SHARED));

        assertThat(rig.raw().breakGrant(shown, false)).isTrue();
        assertThat(one.isHeldBy(shown)).isFalse();
        assertThat(two.isHeldBy(other)).isTrue();
        two.release(other);
        assertThat(two.attempt(reader.name()))
                .as("the lease of the broken one runs on")
                .isEmpty();

        assertThat(rig.raw().breakGrant(shown, true)).isTrue();
        assertThat(two.attempt(reader.name())).isPresent();
    }

    @Test
    void theReaderThatIsShownIsTheOneThatIsBroken() {
        assumeShared();
        String name = rig.name();
        RawClient one = rig.raw();
        List<Grant> readers = List.of(
                one.hold(Claims.mode(Claims.of(name), Mode.SHARED)),
                one.hold(Claims.mode(Claims.of(name), Mode.SHARED)));
        long shown = one.status(name).grant().orElseThrow().token() / 1024;

        assertThat(rig.raw().breakShown(name, true)).isTrue();

        for (Grant reader : readers) {
            assertThat(one.isHeldBy(reader)).isEqualTo(reader.number() != shown);
        }
    }

    @Test
    void aBrokenLockIsLostToReadersOfAllClients() throws Exception {
        List<DistributedReadWriteLock> locks = locks(2, HoldOptions.defaults().lease(rig.renewed()));
        RawClient raw = rig.raw();
        Hold one = locks.get(0).read().acquire();
        Hold two = locks.get(1).read().acquire();

        for (Hold hold : List.of(one, two)) {
            assertThat(raw.breakShown(hold.name(), true)).isTrue();
        }
        for (Hold hold : List.of(one, two)) {
            rig.patience.until(hold + " to be lost", () -> !hold.isValid());
            assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
        }
        rig.patience.result(locks.get(0).write().acquireAsync(), "a writer").close();
    }

    @Test
    void aThreadBoundReaderWhoWantsToWriteIsToldNoAtOnce() throws Exception {
        DistributedReadWriteLock lock = locks(1, AWAITED.reentrant(true)).get(0);
        try (Hold reading = lock.read().acquire()) {
            assertThat(lock.write().tryAcquire()).isEmpty();
            assertThatThrownBy(() -> lock.write().acquire()).isInstanceOf(IllegalStateException.class);
            assertThat(reading.isValid()).isTrue();
        }
        lock.write().acquire().close();
    }

    @Test
    void aThreadThatHandedItsReadHoldOnMayWaitToWrite() throws Exception {
        DistributedReadWriteLock lock = locks(1, AWAITED).get(0);
        Hold handedOn = lock.read().acquire();
        assertThat(lock.write().tryAcquire(rig.brief())).as("while it is read").isEmpty();
        Future<Boolean> closes = rig.fork(() -> {
            rig.raw().awaitWaiting(handedOn.name(), 1);
            handedOn.close();
            return true;
        });
        try (Hold writing = lock.write().acquire()) {
            assertThat(writing.isValid()).isTrue();
        }
        assertThat(rig.patience.result(closes, "the close")).isTrue();
    }
}
