package dev.holdfast.challenge.lock;

import dev.holdfast.Candidacy;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.Term;
import dev.holdfast.spi.Mode;

/** This library's election: a turn is a term. */
final class HoldfastElection implements AttackedLock {
    private final LockClient client;
    private final String name;
    private final HoldOptions options;

    HoldfastElection(LockClient client, String name, HoldOptions options) {
        this.client = client;
        this.name = name;
        this.options = options;
    }

    @Override
    public Result turn(Mode mode, Work work) throws Exception {
        try (Candidacy candidacy = client.election(name, options).stand()) {
            Term term = candidacy.awaitTerm();
            work.run(new TermGrip(term));
            return term.isValid() ? Result.DONE : Result.LOST;
        }
    }

    private record TermGrip(Term term) implements Grip {
        @Override
        public long token() {
            return term.token();
        }

        @Override
        public boolean isValid() {
            return term.isValid();
        }
    }

    @Override
    public void close() {
        // The client is the worker's.
    }
}
