package dev.holdfast.challenge.history;

import java.util.List;

/**
 * All that is known of one lock under one fault.
 *
 * @param cell which lock, doing what, under which fault
 * @param seed from which a run of this cell can be made again
 * @param turns what the workers saw
 * @param bites what was done to them
 * @param probes whether the lock could be had afterwards
 * @param residue what was left when all workers had closed their clients
 * @param stalls when the store or the machine stood still
 */
public record LaneHistory(
        Cell cell,
        long seed,
        List<Turn> turns,
        List<Bite> bites,
        List<Probe> probes,
        List<String> residue,
        List<Stall> stalls) {

    /** A store, a lock, a workload and a fault, by their words. */
    public record Cell(String store, String lock, String workload, String fault) {
        @Override
        public String toString() {
            return store + "/" + lock + "/" + workload + "/" + fault;
        }
    }

    /**
     * One time that the fault was made.
     *
     * @param victim the worker it was made to, {@link #ALL} if others feel it too
     * @param began when it began
     * @param healed when it was over
     * @param bit whether it is proven that it did something to this lock
     */
    public record Bite(int victim, long began, long healed, boolean bit) {
        /** Every worker feels it. */
        public static final int ALL = 0;

        /** Nothing was done. */
        public static final int NOBODY = -1;

        private boolean isFeltBy(Turn turn) {
            return victim == ALL || victim == turn.worker();
        }
    }

    /**
     * One time that the lock should be had again.
     *
     * @param healed when nothing stood against it any more
     * @param obtained when all who are alive had it, 0 if they had not when the limit was over
     * @param limitNanos the time in which they should have had it
     */
    public record Probe(long healed, long obtained, long limitNanos) {}

    /**
     * A time in which the store did not answer the controller.
     *
     * @param began from when
     * @param ended until when
     */
    public record Stall(long began, long ended) {}

    /** Whether the store or the machine stood still while that turn went on. */
    public boolean isStalled(Turn turn) {
        return stalls.stream().anyMatch(stall -> stall.began() <= turn.left() && turn.asked() <= stall.ended());
    }

    /** Whether something was done to a worker while that turn went on, or what was done had not healed yet. */
    public boolean isAttacked(Turn turn) {
        return bites.stream().anyMatch(bite -> bite.isFeltBy(turn) && meets(bite, turn));
    }

    /** Whether a fault was made to the worker of one of these turns, and all of them began before it had healed. */
    public boolean isDuringABite(List<Turn> some) {
        long last = some.stream().mapToLong(Turn::began).max().orElse(Long.MAX_VALUE);
        return bites.stream()
                .anyMatch(bite -> last <= endOf(bite)
                        && some.stream().anyMatch(turn -> bite.isFeltBy(turn) && meets(bite, turn)));
    }

    private boolean meets(Bite bite, Turn turn) {
        return turn.asked() <= endOf(bite) && (turn.left() == 0 || bite.began() <= turn.left());
    }

    /** When all had the lock again after it: the probe for that begins when it has healed. */
    private long endOf(Bite bite) {
        return obtainedAfter(bite.healed());
    }

    /** When all had the lock for the next time after that moment. */
    public long obtainedAfter(long moment) {
        return probes.stream()
                .mapToLong(Probe::obtained)
                .filter(obtained -> obtained != 0 && obtained >= moment)
                .min()
                .orElse(Long.MAX_VALUE);
    }

    /** How often it is proven that the fault did something. */
    public long bitten() {
        return bites.stream().filter(Bite::bit).count();
    }
}
