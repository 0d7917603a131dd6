package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Mode;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A reader that came after a writer of its own client waits behind it, also while that writer has no claim in the store because
 * another of the client holds the lock. However the writer leaves, the reader comes in after that.
 */
class ReaderBehindWriterTest extends EngineCase {
    private final DistributedReadWriteLock lock =
            client.readWriteLock("a", HoldOptions.defaults().lease(s(10)));
    private final DistributedReadWriteLock theirs = rival.readWriteLock("a", lease(10));

    /** The store gives no fresh numbers: past the bounds of hand-over, 5 ms, it serves the next in its queue. */
    @BeforeEach
    void theStoreServesTheNext() {
        line.caps = capabilities -> capabilities.extendable(false);
    }

    @AfterEach
    void nothingIsLeft() {
        assertThat(client.statistics().waitingNow()).isZero();
        assertThat(theirs.status().isHeld()).isFalse();
    }

    private CompletableFuture<Hold> writer() {
        return next(lock.write());
    }

    private CompletableFuture<Hold> reader() {
        return next(lock.read());
    }

    private CompletableFuture<Hold> next(DistributedLock side) {
        time.advance(s(0.01));
        return side.acquireAsync();
    }

    private Hold hold() {
        return lock.write().acquireAsync().join();
    }

    /** They come in one after another, in this order. */
    @SafeVarargs
    private void assertOneAfterAnother(CompletableFuture<Hold>... callers) {
        for (int i = 0; i < callers.length; i++) {
            assertThat(callers[i]).as("caller " + i).isDone();
            for (int later = i + 1; later < callers.length; later++) {
                assertThat(callers[later])
                        .as("caller " + later + " beside " + i)
                        .isNotDone();
            }
            callers[i].join().close();
        }
    }

    @Test
    void theWriterIsBeforeItWhereTheStoreServesTheNext() {
        Hold writing = hold();
        CompletableFuture<Hold> writer = writer();
        CompletableFuture<Hold> late = reader();
        writing.close();
        assertOneAfterAnother(writer, late);
        assertThat(line.claimed).extracting(Claim::mode).containsExactly(Mode.EXCLUSIVE, Mode.EXCLUSIVE, Mode.SHARED);
    }

    @Test
    void theWriterIsBeforeItWhereTheStoreGivesAFreshNumber() {
        line.caps = capabilities -> capabilities;
        Hold writing = hold();
        CompletableFuture<Hold> writer = writer();
        CompletableFuture<Hold> late = reader();
        writing.close();
        assertOneAfterAnother(writer, late);
    }

    @Test
    void theWriterIsBeforeItWhereOneWhoReadsOnCloses() {
        Hold readingOn = hold();
        CompletableFuture<Hold> writer = writer();
        CompletableFuture<Hold> late = reader();
        lock.downgrade(readingOn);
        assertThat(late).isNotDone();
        readingOn.close();
        assertOneAfterAnother(writer, late);
    }

    @Test
    void theWriterIsBeforeItWhereTheStoreCannotLetReadersIn() {
        line.loosens = false;
        theWriterIsBeforeItWhereOneWhoReadsOnCloses();
    }

    @Test
    void allWritersThatCameFirstAreBeforeIt() {
        Hold writing = hold();
        CompletableFuture<Hold> second = writer();
        CompletableFuture<Hold> third = writer();
        CompletableFuture<Hold> late = reader();
        writing.close();
        time.advance(s(0.01));
        assertOneAfterAnother(second, third, late);
    }

    @Test
    void theWriterIsHandedTheLock() {
        DistributedReadWriteLock free = client.readWriteLock("a", lease(10));
        Hold writing = free.write().acquireAsync().join();
        CompletableFuture<Hold> writer = next(free.write());
        CompletableFuture<Hold> late = next(free.read());
        writing.close();
        assertThat(line.claimed).as("the reader's goes as soon as it is first").hasSize(2);
        assertOneAfterAnother(writer, late);
    }

    @Test
    void theTimeOfTheWriterPasses() {
        Hold writing = hold();
        CompletableFuture<Optional<Hold>> writer = lock.write().tryAcquireAsync(s(1));
        CompletableFuture<Hold> late = reader();
        assertThat(line.claimed).hasSize(1);
        time.advance(s(1));
        assertThat(writer.join()).isEmpty();
        assertItIsNext(writing, late);
    }

    /** The reader's claim is in the store while the lock is still held. */
    private void assertItIsNext(Hold writing, CompletableFuture<Hold> late) {
        assertThat(line.claimed).extracting(Claim::mode).containsExactly(Mode.EXCLUSIVE, Mode.SHARED);
        writing.close();
        assertOneAfterAnother(late);
    }

    @Test
    void theWriterIsInterrupted() throws Exception {
        Hold writing = hold();
        Started<Hold> writer = startAndWaitUntilItWaits(() -> lock.write().acquire());
        CompletableFuture<Hold> late = reader();
        assertThat(line.claimed).hasSize(1);
        writer.thread().interrupt();
        assertThatThrownBy(writer::result).hasCauseInstanceOf(InterruptedException.class);
        assertItIsNext(writing, late);
    }

    @Test
    void theWriterIsCancelled() {
        Hold writing = hold();
        CompletableFuture<Hold> writer = writer();
        CompletableFuture<Hold> late = reader();
        assertThat(line.claimed).hasSize(1);
        writer.cancel(false);
        assertItIsNext(writing, late);
    }

    @Test
    void theSecondWriterIsCancelledWhileTheFirstClaims() {
        Hold theirWriting = theirs.write().acquireAsync().join();
        CompletableFuture<Hold> first = writer();
        CompletableFuture<Hold> second = writer();
        CompletableFuture<Hold> late = reader();
        assertThat(line.claimed).hasSize(1);
        second.cancel(false);
        assertThat(line.claimed).hasSize(2);
        theirWriting.close();
        assertOneAfterAnother(first, late);
    }

    @Test
    void theClaimOfTheWriterIsRefused() {
        Hold writing = hold();
        CompletableFuture<Hold> writer = writer();
        CompletableFuture<Hold> late = reader();
        line.claimOverride = (claim, answer) -> {
            if (claim.mode() == Mode.SHARED) {
                return line.real.claim(claim, answer);
            }
            answer.failed(new StoreRefusedException("no"));
            return () -> {};
        };
        writing.close();
        assertThat(writer).isCompletedExceptionally();
        assertOneAfterAnother(late);
    }

    @Test
    void theHoldBeforeThemIsLost() {
        Hold writing = hold();
        CompletableFuture<Hold> writer = writer();
        CompletableFuture<Hold> late = reader();
        rival.breakGrant("a", writing.token(), true);
        line.listener.lost(grantOf(writing.id()));
        assertThat(writing.isValid()).isFalse();
        assertOneAfterAnother(writer, late);
        assertThatThrownBy(writing::close).isInstanceOf(HoldLostException.class);
    }

    @Test
    void theClientIsClosed() {
        LockClient closing = clientOn(new MemoryStore(time).open(time), time);
        DistributedReadWriteLock both = closing.readWriteLock("a", lease(10));
        both.write().acquireAsync().join();
        CompletableFuture<Hold> writer = next(both.write());
        CompletableFuture<Hold> late = next(both.read());
        closing.close();
        assertThatThrownBy(writer::join).hasCauseInstanceOf(ClientClosedException.class);
        assertThatThrownBy(late::join).hasCauseInstanceOf(ClientClosedException.class);
    }

    @Test
    void thePlaceOfAnEarlierReaderWhoLeftIsNotForIt() {
        Hold theirWriting = theirs.write().acquireAsync().join();
        CompletableFuture<Hold> early = reader();
        CompletableFuture<Hold> writer = writer();
        CompletableFuture<Hold> late = reader();
        early.cancel(false);
        theirWriting.close();
        assertOneAfterAnother(writer, late);
    }

    @Test
    void thePlaceOfAReaderWhoLeftIsForThoseThatNoWriterCameBefore() {
        Hold theirWriting = theirs.write().acquireAsync().join();
        CompletableFuture<Hold> writer = writer();
        CompletableFuture<Hold> early = reader();
        CompletableFuture<Hold> late = reader();
        early.cancel(false);
        theirWriting.close();
        assertOneAfterAnother(writer, late);
        assertThat(line.claimed).hasSize(2);
    }

    @Test
    void aTryOfAWriterKeepsNoReaderWaiting() {
        Hold theirWriting = theirs.write().acquireAsync().join();
        assertThat(lock.write().tryAcquire()).isEmpty();
        CompletableFuture<Hold> late = reader();
        assertThat(line.claimed).hasSize(2);
        theirWriting.close();
        assertOneAfterAnother(late);
    }

    @Test
    void aReaderWhoTriesDoesNotWait() {
        Hold writing = hold();
        CompletableFuture<Hold> writer = writer();
        assertThat(lock.read().tryAcquire()).isEmpty();
        CompletableFuture<Hold> late = reader();
        assertThat(lock.read().tryAcquire()).isEmpty();
        writing.close();
        assertOneAfterAnother(writer, late);
    }
}
