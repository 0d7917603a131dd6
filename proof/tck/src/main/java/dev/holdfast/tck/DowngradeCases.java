package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.spi.Grant;
import dev.holdfast.testbed.Stalls;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Through the engine: a writer who reads on. */
abstract class DowngradeCases extends SharedCases {
    DowngradeCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void aWriterWhoReadsOnKeepsItsTokenAndItsLeaseAndKeepsWritersOut() throws Exception {
        HoldOptions brief = AWAITED.lease(rig.brief().multipliedBy(2));
        RawClient raw = rig.raw();
        rig.unhurried(() -> {
            List<DistributedReadWriteLock> locks = locks(2, brief);
            try (Stalls stalls = Stalls.watch()) {
                readsOn(locks.get(0), locks.get(1), raw, stalls);
            }
        });
    }

    private void readsOn(DistributedReadWriteLock mine, DistributedReadWriteLock theirs, RawClient raw, Stalls stalls)
            throws InterruptedException {
        Hold hold = mine.write().acquire();
        long token = hold.token();
        Duration lease = hold.remaining();
        List<Boolean> had = new ArrayList<>();
        boolean valid;
        try {
            mine.downgrade(hold);
            for (int i = 0; i < 4; i++) {
                had.add(theirs.write().tryAcquire().isPresent());
                rig.pass(lease.dividedBy(2));
                stalls.witness(() -> raw.claimOnce(rig.name()));
            }
            valid = hold.isValid();
        } catch (HoldLostException lost) {
            valid = false;
        }
        if (!valid) {
            rig.throwIfLonger(stalls, lease.dividedBy(6));
        }
        assertThat(valid).as("renewed as before").isTrue();
        assertThat(had).containsOnly(false);
        assertThat(hold.token()).isEqualTo(token);
        hold.close();
        try (Hold next = theirs.write().tryAcquire().orElseThrow()) {
            assertThat(next.token()).isGreaterThan(token);
        }
    }

    @Test
    void readersOfAnotherClientComeInBesideAWriterWhoReadsOnWhereTheStoreCanDoThat() throws Exception {
        List<DistributedReadWriteLock> locks = locks(3, AWAITED);
        RawClient raw = rig.raw();
        Hold hold = locks.get(0).write().acquire();
        CompletableFuture<Hold> waiting = locks.get(1).read().acquireAsync();
        raw.awaitWaiting(hold.name(), 1);

        locks.get(0).downgrade(hold);

        if (downgrades(raw)) {
            try (Hold beside = rig.patience.result(waiting, "the reader who waited")) {
                assertThat(beside.token()).isGreaterThan(hold.token());
                assertThat(hold.isValid()).isTrue();
                hold.close();
                assertThat(locks.get(2).write().tryAcquire()).isEmpty();
            }
        } else {
            assertThat(locks.get(2).read().tryAcquire()).isEmpty();
            hold.close();
            rig.patience.result(waiting, "the reader who waited").close();
        }
        locks.get(2).write().tryAcquire().orElseThrow().close();
    }

    @Test
    void aReaderOfTheSameClientComesInBesideAWriterWhoReadsOnHoweverLate() throws Exception {
        DistributedReadWriteLock lock = locks(1, AWAITED).get(0);
        Hold hold = lock.write().acquire();
        lock.downgrade(hold);
        for (int i = 0; i < 2; i++) {
            rig.pass(Duration.ofMillis(50)); // the time in which readers join without a request is long over
            CompletableFuture<Hold> waits = lock.read().acquireAsync();
            try (Hold beside = rig.patience.result(waits, "the reader who waited")) {
                assertThat(beside.isValid()).isTrue();
            }
            rig.pass(Duration.ofMillis(50));
            try (Hold beside = lock.read().tryAcquire().orElseThrow()) {
                assertThat(beside.isValid()).isTrue();
            }
        }
        assertThat(hold.isValid()).isTrue();
        hold.close();
        lock.write().tryAcquire().orElseThrow().close();
    }

    @Test
    void readersOfTheSameClientWhoTryAtOneMomentAllComeInBesideAWriterWhoReadsOn() throws Exception {
        DistributedReadWriteLock lock = locks(1, AWAITED).get(0);
        Hold hold = lock.write().acquire();
        lock.downgrade(hold);
        rig.pass(Duration.ofMillis(50)); // the time in which readers join without a request is long over
        List<CompletableFuture<Optional<Hold>>> tries = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            tries.add(lock.read().tryAcquireAsync(Duration.ZERO));
        }
        for (CompletableFuture<Optional<Hold>> tried : tries) {
            rig.patience.result(tried, "a reader who tried").orElseThrow().close();
        }
        assertThat(hold.isValid()).isTrue();
        hold.close();
        lock.write().tryAcquire().orElseThrow().close();
    }

    @Test
    void noReaderComesInBesideAWriterWhoReadsOnBeforeAnotherWriterWhoWaits() throws Exception {
        assumeFair();
        RawClient raw = rig.raw();
        rig.unhurried(() -> {
            List<DistributedReadWriteLock> locks = locks(3, AWAITED);
            Hold hold = locks.get(0).write().acquire();
            CompletableFuture<Hold> writer = locks.get(1).write().acquireAsync();
            raw.awaitWaiting(hold.name(), 1);
            CompletableFuture<Hold> reader = locks.get(2).read().acquireAsync();
            raw.awaitWaiting(hold.name(), 2);

            locks.get(0).downgrade(hold);
            assertThat(raw.waiting(hold.name())).isEqualTo(2);
            servedFirst(hold::close, writer, reader);

            Hold writing = rig.patience.result(writer, "the writer who waited");
            assertThat(reader).isNotDone();
            assertThat(writing.token()).isGreaterThan(hold.token());
            writing.close();
            rig.patience.result(reader, "the reader behind it").close();
        });
    }

    /** Whether the store loosens a grant; it may leave that out. */
    private boolean downgrades(RawClient raw) {
        Grant grant = raw.hold(rig.name());
        boolean loosened = raw.downgrade(grant);
        raw.release(grant);
        return loosened;
    }
}
