package dev.holdfast.recipes;

import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedMultiLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.MultiHold;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/**
 * One quantity in several segments, each with a lock of its own, so that several buyers are served at once: a thousand
 * pieces in 16 segments sell up to 16 times as fast as behind one lock. Nothing is sold twice, and every last piece is
 * found.
 *
 * <pre>{@code
 * SplitStock tickets = SplitStock.of(client, "tickets", 16, table);
 * tickets.fill(1000);
 * boolean sold = tickets.take(2);
 * }</pre>
 *
 * <p>How {@code take(n)} works:
 *
 * <ol>
 *   <li>It reads all segments without a lock, and tries the lock of a random one that shows n pieces. If another client
 *       holds that lock, it waits for a second random choice. If the segment still has n pieces, they are taken. Otherwise
 *       it begins again.
 *   <li>If no segment shows n pieces, but together they show as many, all segments are locked at once, and the pieces
 *       taken from several of them.
 *   <li>If all segments together show fewer than n pieces, they are read again until two readings in a row are equal,
 *       tokens included. Then there was a moment between the two at which fewer than n pieces were left (the double
 *       collect of Afek et al., "Atomic snapshots of shared memory", 1993), and the answer is false. So a stock that is
 *       sold out costs two readings, and no lock.
 * </ol>
 *
 * <p>Every write carries the token of its segment's hold, and {@link Segments} refuses a token that is too low. A loss of
 * a lock is therefore harmless: either the write was admitted, or nothing was taken and {@code take} throws.
 *
 * <p>The segments are the stock: there is no total beside them that could differ. Other programs must change a segment only
 * under its lock and with its token. Otherwise {@code take} can overwrite their change. All programs must use the same
 * number of segments. Immutable and thread-safe.
 */
public final class SplitStock {
    private static final int MOST = 100;

    private final LockClient client;
    private final String name;
    private final int segmentCount;
    private final Segments segments;
    private final HoldOptions options;

    private SplitStock(LockClient client, String name, int segmentCount, Segments segments, HoldOptions options) {
        this.client = client;
        this.name = name;
        this.segmentCount = segmentCount;
        this.segments = segments;
        this.options = options;
    }

    /**
     * A stock in segments.
     *
     * @param name the prefix of the lock names {@code name/0} to {@code name/(segmentCount - 1)}
     * @param segmentCount the number of segments, 1 to 100
     * @throws IllegalArgumentException if the number of segments is out of range, or the name is not a lock's name
     */
    public static SplitStock of(LockClient client, String name, int segmentCount, Segments segments) {
        return of(client, name, segmentCount, segments, HoldOptions.defaults());
    }

    /** As {@link #of(LockClient, String, int, Segments)}, with options for the holds. */
    public static SplitStock of(
            LockClient client, String name, int segmentCount, Segments segments, HoldOptions options) {
        if (segmentCount < 1 || segmentCount > MOST) {
            throw new IllegalArgumentException(
                    "the stock '" + name + "' needs 1 to " + MOST + " segments, not " + segmentCount);
        }
        SplitStock made = new SplitStock(client, name, segmentCount, segments, options);
        client.lock(made.nameOf(segmentCount - 1), options); // refused here, not at the first piece
        return made;
    }

    /**
     * Takes pieces: all that are asked for, or none.
     *
     * @param pieces at least 1
     * @return false if fewer pieces were left
     * @throws dev.holdfast.StaleTokenException if the lock was lost, and another was faster; nothing was taken
     * @throws InterruptedException if the thread is interrupted while it waits; nothing was taken
     * @throws dev.holdfast.HoldfastException as {@link DistributedLock#acquire()}; nothing was taken. Exceptions of the
     *     segments are passed on
     * @throws IllegalArgumentException if {@code pieces} is less than 1
     * @throws IllegalStateException if there are more or fewer segments, or one is negative
     */
    public boolean take(long pieces) throws InterruptedException {
        requirePositive(pieces);
        List<Segment> before = List.of();
        while (true) {
            List<Segment> seen = read();
            List<Segment> enough =
                    seen.stream().filter(segment -> segment.left() >= pieces).toList();
            if (!enough.isEmpty()) {
                if (takeFrom(acquireOneOf(enough), pieces)) {
                    return true;
                }
            } else if (sum(seen) >= pieces) {
                if (takeFromSeveral(pieces)) {
                    return true;
                }
            } else if (seen.equals(before)) {
                return false;
            }
            before = seen;
        }
    }

    /**
     * Puts pieces back, into one of the segments.
     *
     * @param pieces at least 1
     * @throws InterruptedException if the thread is interrupted while it waits; nothing was put back
     * @throws dev.holdfast.HoldfastException as {@link #take}; nothing was put back
     * @throws IllegalArgumentException if {@code pieces} is less than 1
     * @throws ArithmeticException if the stock exceeds the range of {@code long}
     */
    public void putBack(long pieces) throws InterruptedException {
        requirePositive(pieces);
        Locked locked = acquireOneOf(read());
        try (FencedWork work = new FencedWork(locked.hold)) {
            Segment segment = read().get(locked.number);
            segments.write(List.of(locked.with(Math.addExact(segment.left(), pieces))));
        }
    }

    /**
     * Sets the whole stock, spread evenly; what the segments had is replaced.
     *
     * @param pieces at least 0
     * @throws IllegalArgumentException if {@code pieces} is negative
     * @throws dev.holdfast.StaleTokenException if a lock was lost, and another client was faster; nothing was changed
     * @throws InterruptedException if the thread is interrupted while it waits; nothing was changed
     * @throws dev.holdfast.HoldfastException as {@link #take}; nothing was changed
     */
    public void fill(long pieces) throws InterruptedException {
        if (pieces < 0) {
            throw new IllegalArgumentException("the stock '" + name + "' cannot have " + pieces + " pieces");
        }
        MultiHold all = all().acquire();
        try (FencedWork work = new FencedWork(all)) {
            segments.write(spread(pieces, all));
        }
    }

    /**
     * Spreads what is left evenly over the segments; useful where buyers take several pieces at once.
     *
     * @throws dev.holdfast.StaleTokenException if a lock was lost, and another client was faster; nothing was changed
     * @throws InterruptedException if the thread is interrupted while it waits; nothing was changed
     * @throws dev.holdfast.HoldfastException as {@link #take}; nothing was changed
     */
    public void rebalance() throws InterruptedException {
        MultiHold all = all().acquire();
        try (FencedWork work = new FencedWork(all)) {
            segments.write(spread(sum(read()), all));
        }
    }

    /** The number of pieces left, read without a lock: exact if the stock does not change during the read. */
    public long left() {
        return sum(read());
    }

    private boolean takeFrom(Locked locked, long pieces) {
        try (FencedWork work = new FencedWork(locked.hold)) {
            Segment segment = read().get(locked.number);
            if (segment.left() < pieces) {
                return false;
            }
            segments.write(List.of(locked.with(segment.left() - pieces)));
            return true;
        }
    }

    private boolean takeFromSeveral(long pieces) throws InterruptedException {
        MultiHold all = all().acquire();
        try (FencedWork work = new FencedWork(all)) {
            List<Segment> changed = new ArrayList<>();
            long missing = pieces;
            for (Segment segment : read()) {
                long taken = Math.min(missing, segment.left());
                if (taken > 0) {
                    changed.add(segmentOf(segment.number(), segment.left() - taken, all));
                    missing -= taken;
                }
            }
            if (missing > 0) {
                return false;
            }
            segments.write(changed);
            return true;
        }
    }

    /** One that is free, if the first choice is; else the second choice, in its queue. */
    private Locked acquireOneOf(List<Segment> choice) throws InterruptedException {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        int first = choice.get(random.nextInt(choice.size())).number();
        Optional<Hold> free = lock(first).tryAcquire();
        if (free.isPresent()) {
            return new Locked(first, free.get());
        }
        int second = choice.get(random.nextInt(choice.size())).number();
        return new Locked(second, lock(second).acquire());
    }

    private List<Segment> spread(long pieces, MultiHold all) {
        List<Segment> spread = new ArrayList<>();
        for (int i = 0; i < segmentCount; i++) {
            spread.add(segmentOf(i, pieces / segmentCount + (i < pieces % segmentCount ? 1 : 0), all));
        }
        return spread;
    }

    private Segment segmentOf(int number, long left, MultiHold all) {
        return new Segment(number, left, all.token(nameOf(number)));
    }

    private List<Segment> read() {
        List<Segment> read = segments.read();
        if (read.size() != segmentCount) {
            throw new IllegalStateException(
                    "the stock '" + name + "' has " + segmentCount + " segments, but Segments.read() returned "
                            + read.size() + "; create one for each number, and use the same number in all programs");
        }
        return read;
    }

    private DistributedLock lock(int number) {
        return client.lock(nameOf(number), options);
    }

    private DistributedMultiLock all() {
        return client.multiLock(
                IntStream.range(0, segmentCount).mapToObj(this::nameOf).toList(), options);
    }

    private String nameOf(int number) {
        return name + "/" + number;
    }

    private static long sum(List<Segment> segments) {
        return segments.stream().mapToLong(Segment::left).reduce(0, Math::addExact);
    }

    private void requirePositive(long pieces) {
        if (pieces < 1) {
            throw new IllegalArgumentException(
                    "cannot take or put back " + pieces + " pieces of the stock '" + name + "'; use at least 1");
        }
    }

    @Override
    public String toString() {
        return "SplitStock[" + name + ", " + segmentCount + " segments]";
    }

    private record Locked(int number, Hold hold) {
        Segment with(long left) {
            return new Segment(number, left, hold.token());
        }
    }
}
