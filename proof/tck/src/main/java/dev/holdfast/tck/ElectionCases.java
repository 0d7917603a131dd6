package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Candidacy;
import dev.holdfast.LeaderElection;
import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import dev.holdfast.Term;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Leader election by several clients. */
abstract class ElectionCases extends Cases {
    private static final int CANDIDATES = 4;

    /** A candidate whose term has ended stands again after a second where a store keeps no order. */
    private static final Duration BACK_IN_LINE = Duration.ofSeconds(2);

    ElectionCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void oneLeadsAndIsSeenByTheOthers() throws Exception {
        String name = rig.name();
        LeaderElection ours = rig.client().election(name);
        LeaderElection theirs = rig.client().election(name);
        try (Candidacy first = ours.stand();
                Candidacy second = waitingBehind(first, theirs)) {
            Term term = awaitTerm(first);
            assertThat(second.isLeader()).isFalse();
            assertThat(theirs.leader().map(LockStatus.Held::token)).contains(term.token());
        }
    }

    @Test
    void thoseInLineAreNamedWhereTheStoreKeepsTheirNamesElseCounted() throws Exception {
        String name = rig.name();
        LeaderElection ours = rig.client().election(name);
        LeaderElection theirs = rig.client().election(name);
        try (Candidacy first = ours.stand();
                Candidacy second = waitingBehind(first, theirs)) {
            assertThat(awaitTerm(first).isValid()).isTrue();
            assertThat(second.isLeader()).isFalse();
            assertThat(ours.status().waiting()).isEqualTo(rig.counted(1));
            ours.candidates()
                    .ifPresent(line -> assertThat(line)
                            .singleElement()
                            .satisfies(candidate -> assertThat(candidate.name()).isEqualTo(name)));
        }
    }

    @Test
    void theNextLeadsWhenTheLeaderResignsAndItsTermHasAHigherNumber() throws Exception {
        String name = rig.name();
        LeaderElection ours = rig.client().election(name);
        LeaderElection theirs = rig.client().election(name);
        try (Candidacy first = ours.stand();
                Candidacy second = waitingBehind(first, theirs)) {
            Term one = awaitTerm(first);
            one.resign();
            Term two = awaitTerm(second);
            assertThat(two.token()).isGreaterThan(one.token());
            // or the second, where a store keeps no order, might be quicker once more
            rig.patience.until(
                    "the first candidate in line again", () -> ours.status().waiting() == rig.counted(1));
            if (!rig.capabilities().countsWaiters()) {
                rig.pass(BACK_IN_LINE);
            }
            two.resign();
            assertThat(awaitTerm(first).token()).isGreaterThan(two.token());
        }
    }

    @Test
    void theNextLeadsWhenTheLeadersClientIsClosedAndTheLeaderHasHeardOfItBefore() throws Exception {
        String name = rig.name();
        LockClient leaving = rig.client();
        LeaderElection theirs = rig.client().election(name);
        CompletableFuture<Boolean> othersLedBefore = new CompletableFuture<>();
        CompletableFuture<Candidacy> other = new CompletableFuture<>();
        CompletableFuture<Void> elected = new CompletableFuture<>();
        Candidacy first = leaving.election(name)
                .stand(
                        term -> elected.complete(null),
                        term -> othersLedBefore.complete(other.get().isLeader()));
        rig.patience.result(elected, "the first term");
        try (Candidacy second = waitingBehind(first, theirs)) {
            other.complete(second);
            leaving.close();
            assertThat(first.isLeader()).isFalse();
            assertThat(rig.patience.result(othersLedBefore, "the end of the term"))
                    .isFalse();
            awaitTerm(second);
        }
    }

    @Test
    void nobodyLeadsBeforeTheListenerOfOneWhoResignsOrClosesItsClientHasReturned() throws Exception {
        for (boolean close : new boolean[] {false, true}) {
            String name = rig.name();
            LockClient leaving = rig.client();
            LeaderElection theirs = rig.client().election(name);
            CompletableFuture<Void> elected = new CompletableFuture<>();
            CompletableFuture<Void> revoked = new CompletableFuture<>();
            CompletableFuture<Void> mayReturn = new CompletableFuture<>();
            Candidacy first = rig.closing(leaving.election(name).stand(term -> elected.complete(null), term -> {
                revoked.complete(null);
                mayReturn.get();
            }));
            rig.patience.result(elected, "the first term");
            Candidacy second = waitingBehind(first, theirs);
            Future<?> leaves = rig.fork(() -> {
                if (close) {
                    leaving.close();
                } else {
                    first.resign();
                }
                return null;
            });
            rig.patience.result(revoked, "the end of the term");
            assertThat(second.awaitTerm(Duration.ofMillis(200))).as("led early").isEmpty();
            mayReturn.complete(null);
            awaitTerm(second);
            rig.patience.result(leaves, "the end of the candidacy");
            second.close();
        }
    }

    @Test
    void ofManyWhoLeadByTurnsNeverDoTwo() throws Exception {
        String name = rig.name();
        AtomicInteger leading = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger terms = new AtomicInteger();
        CompletableFuture<Void> enough = new CompletableFuture<>();
        List<Candidacy> candidacies = new ArrayList<>();
        for (int i = 0; i < CANDIDATES; i++) {
            candidacies.add(rig.closing(rig.client().election(name).lead(term -> {
                most.accumulateAndGet(leading.incrementAndGet(), Math::max);
                LockSupport.parkNanos(100_000); // long enough to be met
                leading.decrementAndGet();
                if (terms.incrementAndGet() == rig.contract.rounds()) {
                    enough.complete(null);
                }
            })));
        }
        rig.patience.times(4).result(enough, "enough terms");
        assertThat(most).as("leaders at a time").hasValue(1);
        candidacies.forEach(Candidacy::close);
    }

    /** Stands second, and returns once it is in line. */
    private Candidacy waitingBehind(Candidacy first, LeaderElection election) throws InterruptedException {
        awaitTerm(first);
        Candidacy second = rig.closing(election.stand());
        rig.patience.until("a second candidate in line", () -> election.status().waiting() == rig.counted(1));
        return second;
    }

    private Term awaitTerm(Candidacy candidacy) throws InterruptedException {
        return candidacy
                .awaitTerm(rig.contract.patience())
                .orElseThrow(() -> new AssertionError("it does not lead after " + rig.contract.patience()));
    }
}
