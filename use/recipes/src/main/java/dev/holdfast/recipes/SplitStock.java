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
import java.util.function.ToLongFunction;
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
 * <p>A segment is written only if nobody has changed it since it was read, which its token shows: each hold writes a
 * segment once, with its own token. So a buyer that was stopped for longer than its lease, and whose lock another buyer has,
 * cannot sell a piece twice. It begins again, like every buyer that finds its segment changed.
 *
 * <p>The segments are the stock: there is no total beside them that could differ. Other programs may
 * change a segment if they give it another token, or another number of pieces. All programs must use the same number of
 * segments. Immutable and thread-safe.
 */
public final class SplitStock {
    private static final int MOST = 100;
    private static final long LONGEST_PAUSE = 20; // milliseconds, between readings that show a change

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

    /**
     * As {@link #of(LockClient, String, int, Segments)}, with options for the holds.
     *
     * @throws IllegalArgumentException also if the options {@linkplain HoldOptions#retain(java.time.Duration) retain} the
     *     locks: several are held at once
     */
    public static SplitStock of(
            LockClient client, String name, int segmentCount, Segments segments, HoldOptions options) {
        if (segmentCount < 1 || segmentCount > MOST) {
            throw new IllegalArgumentException(
                    "the stock '" + name + "' needs 1 to " + MOST + " segments, not " + segmentCount);
        }
        SplitStock made = new SplitStock(client, name, segmentCount, segments, options);
        client.multiLock(List.of(made.nameOf(segmentCount - 1)), options); // refused here, not at the last pieces
        return made;
    }

    /**
     * Takes pieces: all that are asked for, or none.
     *
     * @param pieces at least 1
     * @return false if fewer pieces were left
     * @throws InterruptedException if the thread is interrupted while it waits; nothing was taken
     * @throws dev.holdfast.HoldfastException as {@link DistributedLock#acquire()}; nothing was taken. Exceptions of the
     *     segments are passed on; if {@link Segments#write} throws, pieces may have been taken
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
                if (add(acquireOneOf(enough), -pieces)) {
                    return true;
                }
            } else if (sum(seen) >= pieces) {
                if (takeFromSeveral(pieces)) {
                    return true;
                }
            } else if (seen.equals(before)) {
                return false;
            } else if (!before.isEmpty()) {
                Thread.sleep(ThreadLocalRandom.current().nextLong(1, LONGEST_PAUSE));
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
        while (!add(acquireOneOf(read()), pieces)) {
            // changed meanwhile
        }
    }

    /**
     * Sets the whole stock, spread evenly; what the segments had is replaced. Call it once, before the sale: a program that
     * calls it at each start sells the same pieces again.
     *
     * @param pieces at least 0
     * @throws IllegalArgumentException if {@code pieces} is negative
     * @throws InterruptedException if the thread is interrupted while it waits; nothing was changed
     * @throws dev.holdfast.HoldfastException as {@link #take}; nothing was changed
     */
    public void fill(long pieces) throws InterruptedException {
        if (pieces < 0) {
            throw new IllegalArgumentException("the stock '" + name + "' cannot have " + pieces + " pieces");
        }
        while (!spread(read -> pieces)) {
            // changed meanwhile
        }
    }

    /**
     * Spreads what is left evenly over the segments; useful where buyers take several pieces at once.
     *
     * @throws InterruptedException if the thread is interrupted while it waits; nothing was changed
     * @throws dev.holdfast.HoldfastException as {@link #take}; nothing was changed
     */
    public void rebalance() throws InterruptedException {
        while (!spread(SplitStock::sum)) {
            // changed meanwhile
        }
    }

    /** The number of pieces left, read without a lock: exact if the stock does not change during the read. */
    public long left() {
        return sum(read());
    }

    /** Adds pieces, or takes them; false if too few are there, or the segment was changed meanwhile. */
    private boolean add(Locked locked, long pieces) {
        try (FencedWork work = new FencedWork(locked.hold)) {
            Segment read = read().get(locked.number);
            long left = Math.addExact(read.left(), pieces);
            return left >= 0
                    && segments.write(
                            List.of(new Segments.Change(read, new Segment(read.number(), left, locked.hold.token()))));
        }
    }

    private boolean takeFromSeveral(long pieces) throws InterruptedException {
        MultiHold all = all().acquire();
        try (FencedWork work = new FencedWork(all)) {
            List<Segments.Change> changes = new ArrayList<>();
            long missing = pieces;
            for (Segment read : read()) {
                long taken = Math.min(missing, read.left());
                if (taken > 0) {
                    changes.add(change(read, read.left() - taken, all));
                    missing -= taken;
                }
            }
            return missing == 0 && segments.write(changes);
        }
    }

    private boolean spread(ToLongFunction<List<Segment>> piecesOf) throws InterruptedException {
        MultiHold all = all().acquire();
        try (FencedWork work = new FencedWork(all)) {
            List<Segment> read = read();
            long pieces = piecesOf.applyAsLong(read);
            List<Segments.Change> changes = new ArrayList<>();
            for (int i = 0; i < segmentCount; i++) {
                changes.add(change(read.get(i), pieces / segmentCount + (i < pieces % segmentCount ? 1 : 0), all));
            }
            return segments.write(changes);
        }
    }

    private Segments.Change change(Segment read, long left, MultiHold all) {
        return new Segments.Change(read, new Segment(read.number(), left, all.token(nameOf(read.number()))));
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

    private List<Segment> read() {
        List<Segment> read = segments.read();
        if (read.size() != segmentCount) {
            throw new IllegalStateException(
                    "the stock '" + name + "' has " + segmentCount + " segments, but Segments.read() returned "
                            + read.size() + "; create one for each number, and use the same number in all programs");
        }
        for (int i = 0; i < segmentCount; i++) {
            if (read.get(i).number() != i) {
                throw new IllegalStateException(
                        "the stock '" + name + "' has segment " + read.get(i).number() + " in place " + i
                                + "; Segments.read() must return them in the order of their numbers");
            }
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
        return LockNames.of(name, number);
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

    private record Locked(int number, Hold hold) {}
}
