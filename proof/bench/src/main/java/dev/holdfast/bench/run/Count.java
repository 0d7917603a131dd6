package dev.holdfast.bench.run;

/** What a thread or a process of a round counts. */
public enum Count {
    /** Turns begun, with those that ended after the round. */
    ALL,
    /** Updates of the unprotected counter. */
    UPDATES,
    /** Holders that saw another where none may be. */
    OVERLAPS,
    /** Tries that ended without the lock. */
    REFUSED,
    /** Turns that were due in the round and that no thread had time for. */
    UNSERVED,
    /** Processor time. */
    CPU_NANOS,
    /** Time of the threads that compile. */
    COMPILING_MILLIS,
    /** Bytes given to the system for writing. */
    WRITTEN
}
