package dev.holdfast.sim;

/** What the server answers to a claim. */
record Reply(Kind kind, long number) {
    enum Kind {
        GRANTED,
        QUEUED,
        NOT_FREE
    }
}
