package dev.holdfast.spi;

import dev.holdfast.Capabilities;
import dev.holdfast.LockMode;

/**
 * How a claim wants to hold its names, and so which other holds it conflicts with.
 *
 * <p>A store says in {@link Capabilities#modes()} which of them it keeps.
 */
public sealed interface Mode {

    /** The mode of a mutual-exclusion lock. */
    Mode EXCLUSIVE = new Exclusive();

    /** The mode of a reader. */
    Mode SHARED = new Shared();

    /** The kind of this mode, for capabilities and for people. */
    LockMode kind();

    /** Alone: conflicts with every other hold of the name. */
    record Exclusive() implements Mode {
        @Override
        public LockMode kind() {
            return LockMode.EXCLUSIVE;
        }
    }

    /** Together with other shared holds: conflicts with exclusive holds. */
    record Shared() implements Mode {
        @Override
        public LockMode kind() {
            return LockMode.SHARED;
        }
    }

    /**
     * Some of the permits of a semaphore: conflicts once all are taken.
     *
     * @param permits how many this claim wants, 1 to {@code of}
     * @param of how many there are, at least 1
     */
    record Permits(int permits, int of) implements Mode {
        public Permits {
            if (permits < 1 || permits > of) {
                throw new IllegalArgumentException("permits must be 1 to " + of + ", not " + permits);
            }
        }

        @Override
        public LockMode kind() {
            return LockMode.PERMITS;
        }
    }
}
