package dev.holdfast.cli;

/**
 * One ticket sold.
 *
 * @param ticket which: what the stock was when it was read
 * @param token the fencing token it was sold under; 0 without a lock of that kind
 * @param waitNanos how long the buyer waited for the lock
 * @param workNanos how long it then took to read, pay and write
 */
record Sale(long ticket, long token, long waitNanos, long workNanos) {
    private static final String SEPARATOR = " ";

    /** As one line between worker and parent. */
    String encode() {
        return ticket + SEPARATOR + token + SEPARATOR + waitNanos + SEPARATOR + workNanos;
    }

    static Sale decode(String line) {
        String[] numbers = line.split(SEPARATOR, -1);
        return new Sale(
                Long.parseLong(numbers[0]),
                Long.parseLong(numbers[1]),
                Long.parseLong(numbers[2]),
                Long.parseLong(numbers[3]));
    }
}
