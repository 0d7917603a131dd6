package dev.holdfast.internal;

import java.util.concurrent.TimeUnit;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A writer gives up while the one before it closes, or while a reader comes who would wait for it: the reader reads in the end.
 */
@Tag("thorough")
@Timeout(value = Interleavings.PATIENCE_MINUTES, unit = TimeUnit.MINUTES)
@Tag("same-on-each-jdk")
public class ReaderBehindWriterInterleavingsTest {
    private final LocalRace race = new LocalRace();
    private final Waiter writer = race.queued();
    private final Waiter waiting = race.queued();
    private final Waiter reader = LocalRace.reader();

    @Operation
    public boolean giveUp() {
        return race.cancel(waiting);
    }

    @Operation
    public void readAndClose() {
        race.submit(reader);
        LocalRace.closeHoldOf(writer);
    }

    @Operation
    public void read() {
        race.submit(reader);
    }

    /** The reader does not close: for Lincheck its grant, which comes while the store is gone through, has two hash codes. */
    @Operation
    public String atRest() {
        var status = race.store.open().status(race.lock.inStore()).toCompletableFuture();
        String inStore = status.join().waiting() + " waits in the store";
        if (writer.outcome() instanceof HoldHandle held && held.isValid()) {
            held.close(writer.mode.kind());
        }
        String wrote = LocalRace.end(waiting);
        return inStore + ", " + wrote + (reader.outcome() instanceof HoldHandle ? ", reads" : ", does not read");
    }

    @Test
    void theReaderReadsWhenTheWriterGivesUpAsTheOneBeforeCloses() {
        LocalRace.check(ReaderBehindWriterInterleavingsTest.class, "giveUp", "readAndClose");
    }

    @Test
    void theReaderReadsWhenItComesAsTheWriterGivesUp() {
        LocalRace.check(ReaderBehindWriterInterleavingsTest.class, "giveUp", "read");
    }
}
