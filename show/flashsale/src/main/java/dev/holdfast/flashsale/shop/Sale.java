package dev.holdfast.flashsale.shop;

/**
 * A sale as its row says.
 *
 * @param id its name
 * @param guard what keeps its orders apart; an id of {@link dev.holdfast.flashsale.guard.Guards}
 * @param stock the number of tickets there are
 * @param gapMillis how long an order takes between reading the stock and writing it
 * @param opening the number of its opening: the textbooks' locks of two openings have different names, so that what one
 *     leaves locked does not stop the next
 * @param remaining the number of tickets that the row says are left
 * @param version raised by each order
 */
public record Sale(String id, String guard, int stock, int gapMillis, long opening, long remaining, long version) {
    private static final String ACCOUNT = "account:";

    /** The id of an account's row: an account is kept like a sale, with its money for tickets. */
    public static String ofAccount(String account) {
        return ACCOUNT + account;
    }

    /** Whether it is an account. */
    public boolean isAccount() {
        return id.startsWith(ACCOUNT);
    }

    /** The name of its lock, for the textbooks' locks. */
    public String lockName() {
        return lockName(id, opening);
    }

    static String lockName(String id, long opening) {
        return "flashsale-" + id + "-" + opening;
    }
}
