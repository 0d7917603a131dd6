package dev.holdfast.jdbc;

import dev.holdfast.Holder;
import dev.holdfast.spi.Mode;

/**
 * A claim that has the lock, alone or with others; or was offered it, and has not confirmed yet.
 *
 * @param id the claim
 * @param mode how it holds
 * @param number the number of its grant; 0 while it is an offer
 * @param acquiredAt since when, microseconds of the database's clock
 * @param expiresAt until when, unless renewed
 * @param holder the holder, for people to read
 */
record HolderEntry(String id, Mode mode, long number, long acquiredAt, long expiresAt, Holder holder) {
    /** In the place of the claim of a lock that was broken: the id of nobody. */
    static final String BROKEN = "-";

    static final Holder NOBODY = new Holder("", 0, "", "");

    boolean isOffer() {
        return number == 0;
    }

    boolean isExpired(long now) {
        return expiresAt <= now;
    }

    HolderEntry broken() {
        return new HolderEntry(BROKEN, mode, number, acquiredAt, expiresAt, holder);
    }
}
