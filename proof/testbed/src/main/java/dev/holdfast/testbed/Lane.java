package dev.holdfast.testbed;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** One direction of one connection: what was read from one side and is still to be written to the other. */
final class Lane {
    /** Beyond this the sender is made to wait, held or not: the proxy must not eat all memory. */
    private static final int MOST_KEPT = 16 << 20;

    private static final int CHUNK = 64 << 10;

    private final SocketChannel from;
    private final SocketChannel to;
    private final Direction direction;
    private final Deque<Parcel> queue = new ArrayDeque<>();
    private int kept;
    private boolean fromEnded;
    private boolean toDead;
    private boolean blocked;
    private boolean lossy;
    private boolean finished;
    private boolean clogged;
    private boolean cloggedSome;

    /** How a sender ended its side. */
    enum End {
        CLOSED,
        RESET
    }

    private record Parcel(
            ByteBuffer bytes,
            long due,
            boolean late,
            Runnable onPassed,
            @Nullable End end) {}

    Lane(SocketChannel from, SocketChannel to, Direction direction) {
        this.from = from;
        this.to = to;
        this.direction = direction;
    }

    /** Reads one chunk, or nothing when there is none or the sender has ended. */
    byte @Nullable [] read(ByteBuffer buffer) {
        buffer.clear().limit(CHUNK);
        int count;
        try {
            count = from.read(buffer);
        } catch (IOException e) {
            ended(End.RESET);
            return null;
        }
        if (count < 0) {
            ended(End.CLOSED);
        }
        if (count <= 0) {
            return null;
        }
        direction.countRead(count);
        cloggedSome |= clogged;
        byte[] chunk = new byte[count];
        buffer.flip().get(chunk);
        return chunk;
    }

    /** Takes a chunk on its way; the action runs when the receiver's side has it. */
    void offer(byte[] chunk, Runnable onPassed) {
        if (toDead || direction.mode() == Direction.Mode.SWALLOW) {
            drop(chunk.length);
            return;
        }
        kept += chunk.length;
        queue.add(new Parcel(ByteBuffer.wrap(chunk), due(), direction.delayNanos() > 0, onPassed, null));
    }

    /** Keeps all that comes, or passes it again. */
    void clog(boolean clogs) {
        cloggedSome &= !clogs;
        clogged = clogs;
    }

    /** Whether it kept anything since it was clogged last. */
    boolean hasClogged() {
        return cloggedSome;
    }

    /** Throws a chunk away that was read. */
    void drop(int bytes) {
        direction.countDropped(bytes);
        noteLoss();
    }

    /** Throws away all that is under way. */
    void dropAll() {
        if (!queue.isEmpty()) {
            noteLoss();
        }
        direction.countDropped(kept);
        queue.clear();
        kept = 0;
        blocked = false;
    }

    /** Writes all that is due; a reset of the sender ends both sides. */
    void pass(long now) {
        blocked = false;
        while (!toDead && !queue.isEmpty() && isDue(queue.element(), now) && !blocked) {
            Parcel parcel = queue.element();
            if (parcel.end == null) {
                write(parcel);
            } else {
                queue.remove();
                finish(parcel.end);
            }
        }
    }

    /** Nanoseconds until something is due; {@link Long#MAX_VALUE} when nothing is, or the receiver must read first. */
    long untilDue(long now) {
        Parcel next = queue.peek();
        if (next == null || blocked || isHeld()) {
            return Long.MAX_VALUE;
        }
        return Math.max(0, next.due - now);
    }

    /** Whether the sender has ended; the receiver may not have been told yet. */
    boolean isEndedBySender() {
        return fromEnded;
    }

    /** Whether the sender may send more. */
    boolean wantsToRead() {
        return !fromEnded && kept < MOST_KEPT;
    }

    /** Whether the receiver is slow and has to take more before anything passes. */
    boolean wantsToWrite() {
        return blocked;
    }

    /** Whether something was swallowed that the receiver ought to have had. */
    boolean isLossy() {
        return lossy;
    }

    /** Whether the sender has ended, and the receiver was told or is gone. */
    boolean isFinished() {
        return finished || (fromEnded && toDead);
    }

    private void noteLoss() {
        // Bytes dropped for another reason belong to a connection that is at its end anyway.
        lossy |= direction.mode() == Direction.Mode.SWALLOW;
    }

    private void write(Parcel parcel) {
        int count;
        try {
            count = to.write(parcel.bytes);
        } catch (IOException e) {
            // The receiver is gone. Its own lane tells the sender, after what the receiver said before.
            toDead = true;
            dropAll();
            return;
        }
        kept -= count;
        direction.countPassed(count, parcel.late);
        if (parcel.bytes.hasRemaining()) {
            blocked = true;
        } else {
            queue.remove();
            parcel.onPassed.run();
        }
    }

    private void finish(End end) {
        finished = true;
        if (end == End.RESET) {
            Sockets.reset(to);
            return;
        }
        try {
            to.shutdownOutput();
        } catch (IOException e) {
            toDead = true;
        }
    }

    private void ended(End end) {
        fromEnded = true;
        if (direction.mode() == Direction.Mode.SWALLOW) {
            noteLoss();
        } else {
            queue.add(new Parcel(ByteBuffer.allocate(0), due(), false, () -> {}, end));
        }
    }

    private long due() {
        // One that comes due before the one ahead of it, because the delay was made shorter, waits in the queue for it.
        return System.nanoTime() + direction.delayNanos();
    }

    private boolean isDue(Parcel parcel, long now) {
        return !isHeld() && parcel.due - now <= 0;
    }

    private boolean isHeld() {
        return clogged || direction.mode() == Direction.Mode.HOLD;
    }
}
