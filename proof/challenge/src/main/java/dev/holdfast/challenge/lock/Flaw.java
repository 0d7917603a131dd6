package dev.holdfast.challenge.lock;

/** What is wrong with an {@link Arbiter}, on purpose. */
public enum Flaw {
    /** Nothing. */
    NONE,
    /** Two may hold at once. */
    TWO_HOLDERS,
    /** All have the same token. */
    EQUAL_TOKENS,
    /** Tokens fall. */
    FALLING_TOKENS,
    /** There is one permit more than there should be. */
    EXTRA_PERMIT,
    /** Readers do not wait for the writer. */
    BARGING_READERS,
    /** A holder that dies holds for ever. */
    FORGETS_THE_DEAD,
    /** Each release leaves something behind. */
    LEAVES_RESIDUE,
    /** Each hold is called lost, and is not. */
    ALWAYS_LOST,
    /** No hold is ever called valid. */
    NEVER_VALID
}
