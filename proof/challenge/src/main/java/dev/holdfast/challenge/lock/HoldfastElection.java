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
            work.run(new Grip(term.token(), 0, term::isValid));
            return term.isValid() ? Result.DONE : Result.LOST;
        }
    }
}
