package dev.holdfast.challenge.history;

import dev.holdfast.challenge.history.Turn.Outcome;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Mode.Permits;
import dev.holdfast.tck.History.Ending;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The turns of one worker at one lock, in a file mapped into memory: what was written is in the kernel, and outlives a
 * SIGKILL of the writer. One thread writes, any process reads meanwhile.
 *
 * <p>A number that says how many turns have begun, then a block of numbers for each. A number is written whole; a turn
 * whose writer dies is known up to its last number.
 */
public final class TurnFile {
    private static final VarHandle NUMBERS =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final int FIELDS = 16;
    private static final int MOST = 60_000;
    private static final long PERMIT_SHIFT = 16;
    private static final Ending[] ENDINGS = {Ending.UNKNOWN, Ending.CLOSED, Ending.LOST};
    private static final List<Outcome> OUTCOMES = List.of(Outcome.values());

    private enum Field {
        ASKED(0),
        BEGAN(1),
        LAST_VALID(2),
        LEAVING(3),
        LEFT(4),
        ENDING(5),
        MODE(6),
        TOKEN(7),
        SCOPE(8),
        READ(9),
        WROTE(10),
        OUTCOME(11),
        STALL(12);

        final int place;

        Field(int place) {
            this.place = place;
        }
    }

    private final int worker;
    private final MappedByteBuffer memory;

    /** Maps the file, made when it is not there. */
    public TurnFile(Path file, int worker) {
        this.worker = worker;
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, (long) (MOST + 1) * FIELDS * Long.BYTES);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot map " + file, e);
        }
    }

    /** Whether there is no room for another turn. */
    public boolean isFull() {
        return count() == MOST;
    }

    /** How many turns have begun. */
    public int count() {
        return (int) (long) NUMBERS.getAcquire(memory, 0);
    }

    /** Begins a turn: the lock is about to be asked for. */
    public void ask(long now) {
        int turn = count();
        write(turn, Field.ASKED, now);
        NUMBERS.setRelease(memory, 0, turn + 1L);
    }

    /** The lock was not had, and is about to be asked for again. */
    public void askAgain(long now) {
        write(last(), Field.ASKED, now);
    }

    /** The lock is held. */
    public void begin(Mode mode, long token, long scope, long now) {
        write(last(), Field.MODE, number(mode));
        write(last(), Field.TOKEN, token);
        write(last(), Field.SCOPE, scope);
        write(last(), Field.BEGAN, now);
    }

    /** The hold was found valid, by a look that began then. */
    public void valid(long looked) {
        write(last(), Field.LAST_VALID, looked);
    }

    /** What the resource had. */
    public void read(long value) {
        write(last(), Field.READ, value);
    }

    /** What was written to the resource. */
    public void wrote(long value, Outcome outcome) {
        write(last(), Field.WROTE, value);
        write(last(), Field.OUTCOME, OUTCOMES.indexOf(outcome));
    }

    /** The lock is about to be released. */
    public void leave(long now) {
        write(last(), Field.LEAVING, now);
    }

    /** It is released, or was lost, or was never granted; the process stood still for so long meanwhile. */
    public void left(Ending ending, long stall, long now) {
        write(last(), Field.STALL, stall);
        write(last(), Field.ENDING, List.of(ENDINGS).indexOf(ending));
        write(last(), Field.LEFT, now);
    }

    /** All turns so far. */
    public List<Turn> turns() {
        return new ArrayList<>(IntStream.range(0, count()).mapToObj(this::turn).toList());
    }

    /** The turn begun last, if there is one. */
    public @Nullable Turn lastTurn() {
        int count = count();
        return count == 0 ? null : turn(count - 1);
    }

    /** One turn, from 0. */
    public Turn turn(int turn) {
        return new Turn(
                worker,
                read(turn, Field.ASKED),
                read(turn, Field.BEGAN),
                read(turn, Field.LAST_VALID),
                read(turn, Field.LEAVING),
                read(turn, Field.LEFT),
                ENDINGS[(int) read(turn, Field.ENDING)],
                mode(read(turn, Field.MODE)),
                read(turn, Field.TOKEN),
                read(turn, Field.SCOPE),
                read(turn, Field.READ),
                read(turn, Field.WROTE),
                OUTCOMES.get((int) read(turn, Field.OUTCOME)),
                read(turn, Field.STALL));
    }

    private static long number(Mode mode) {
        if (mode instanceof Permits some) {
            return ((long) some.permits() << PERMIT_SHIFT) + some.of();
        }
        return mode instanceof Mode.Shared ? 1 : 0;
    }

    private static Mode mode(long number) {
        if (number >> PERMIT_SHIFT > 0) {
            return new Permits((int) (number >> PERMIT_SHIFT), (int) (number & 0xFFFF));
        }
        return number == 1 ? Mode.SHARED : Mode.EXCLUSIVE;
    }

    private int last() {
        return count() - 1;
    }

    private void write(int turn, Field field, long value) {
        NUMBERS.setRelease(memory, at(turn, field), value);
    }

    private long read(int turn, Field field) {
        return (long) NUMBERS.getAcquire(memory, at(turn, field));
    }

    private static int at(int turn, Field field) {
        return ((turn + 1) * FIELDS + field.place) * Long.BYTES;
    }
}
