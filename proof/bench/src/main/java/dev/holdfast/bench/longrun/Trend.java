package dev.holdfast.bench.longrun;

/**
 * How much of something was kept at the start of a run, in the middle and at the end. What a run fills once, such as a
 * cache or a pool, is there by the middle; what grows with time is not.
 */
record Trend(double start, double middle, double end) {
    private static final double MOST_RATIO = 1.1;
    /** What varies from one look to the next by itself. */
    private static final double FEW_BYTES = 256 * 1024;

    private static final double FEW = 2;

    /**
     * Whether it grows: in the second half by more than a tenth over what there was before, and by more than it varies by
     * itself.
     *
     * @param what a name in which bytes are called so; anything else is counted
     */
    boolean grows(String what) {
        double before = Math.max(start, middle);
        return end > before * MOST_RATIO && end - before > (what.contains("bytes") ? FEW_BYTES : FEW);
    }
}
