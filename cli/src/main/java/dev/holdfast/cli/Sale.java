package dev.holdfast.cli;

/**
 * One ticket sold.
 *
 * @param ticket which: what the stock was when it was read
 * @param token the fencing token it was sold under; 0 without a lock of that kind
 * @param waitNanos how long the buyer waited for the lock
 */
record Sale(long ticket, long token, long waitNanos) {
    private static final String SEPARATOR = " ";

    /** As one line between worker and parent. */
    String encode() {
        return ticket + SEPARATOR + token + SEPARATOR + waitNanos;
    }

    static Sale decode(String line) {
        String[] numbers = line.split(SEPARATOR, -1);
        return new Sale(Long.parseLong(numbers[0]), Long.parseLong(numbers[1]), Long.parseLong(numbers[2]));
    }
}
