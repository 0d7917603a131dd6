package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** One candidate leads, the others follow. */
class LeaderElectionTest extends EngineCase {
    private final LeaderElection ours = client.election("e", lease(10));
    private final LeaderElection theirs = rival.election("e", lease(10));
    private final List<String> told = new CopyOnWriteArrayList<>();

    @Test
    void theFirstLeadsTheSecondFollowsAndTakesOverWhenTheFirstLeaves() throws Exception {
        Candidacy first = ours.stand();
        Term term = first.awaitTerm();
        try (Candidacy second = theirs.stand()) {
            assertThat(first.isLeader()).isTrue();
            assertThat(second.isLeader()).isFalse();
            assertThat(second.awaitTerm(s(0.05))).isEmpty();
            assertThat(theirs.leader().orElseThrow().token()).isEqualTo(term.token());
            assertThat(theirs.status().waiting()).isEqualTo(1);
            first.close();
            assertThat(term.isValid()).isFalse();
            assertThat(second.awaitTerm().token()).isGreaterThan(term.token());
        }
    }

    @Test
    void whoResignsGoesToTheEndOfTheLine() throws Exception {
        try (Candidacy first = ours.stand();
                Candidacy second = theirs.stand()) {
            Term one = first.awaitTerm();
            first.resign();
            assertThat(one.isValid()).isFalse();
            Term two = second.awaitTerm();
            assertThat(first.isLeader()).isFalse();
            soon(() -> ours.status().waiting() == 1);
            two.resign();
            assertThat(first.awaitTerm().token()).isGreaterThan(two.token());
        }
    }

    @Test
    void aClosedClientLeavesNoThreadOfAListener() throws Exception {
        CompletableFuture<Thread> listener = new CompletableFuture<>();
        Candidacy candidacy = ours.stand(term -> listener.complete(Thread.currentThread()), term -> {});
        Thread thread = listener.get();
        candidacy.close();
        client.close();
        soon(() -> !thread.isAlive());
    }

    @Test
    void theListenerIsToldInOrderAndLeadershipIsTrueBeforeAndFalseAfter() throws Exception {
        CompletableFuture<Candidacy> self = new CompletableFuture<>();
        Candidacy candidacy = ours.stand(
                term -> told.add("elected " + self.get().isLeader()),
                term -> told.add("revoked " + self.get().isLeader() + " others "
                        + rival.lock("e").tryAcquire().isPresent()));
        self.complete(candidacy);
        soon(() -> told.size() == 1);
        candidacy.resign();
        soon(() -> told.size() == 3);
        candidacy.close();
        assertThat(told)
                .containsExactly(
                        "elected true", "revoked false others false", "elected true", "revoked false others false");
    }

    @Test
    void aLostTermIsToldWithItsReasonAndTheCandidateStandsAgain() throws Exception {
        CompletableFuture<Optional<Loss>> loss = new CompletableFuture<>();
        try (Candidacy candidacy = ours.stand(term -> told.add("elected"), term -> loss.complete(term.loss()))) {
            Term term = candidacy.awaitTerm();
            soon(() -> told.size() == 1);
            Breaking.shown(rival, "e", true);
            time.advance(s(11)); // its renewal is refused
            assertThat(term.isValid()).isFalse();
            assertThat(loss.get(10, TimeUnit.SECONDS)).isPresent();
            assertThat(candidacy.awaitTerm().token()).isGreaterThan(term.token());
        }
    }

    @Test
    void aListenerThatThrowsEndsItsTermAndThePauseGrows() throws Exception {
        try (Candidacy candidacy = ours.stand(
                term -> {
                    told.add("elected");
                    throw new IllegalStateException("no disk");
                },
                term -> told.add("revoked"))) {
            soon(() -> told.size() == 2);
            soon(() -> rival.lock("e").tryAcquire().map(EngineCase::closed).isPresent());
            soon(() -> advancedUntil(4));
            assertThat(told).startsWith("elected", "revoked", "elected", "revoked");
            assertThat(candidacy.isLeader()).isFalse();
        }
    }

    @Test
    void aListenerWhoseExceptionCannotBeReadEndsItsTermToo() throws Exception {
        try (LogEar ear = new LogEar();
                Candidacy first = ours.stand(
                        term -> {
                            throw new UnreadableException();
                        },
                        term -> {});
                Candidacy second = theirs.stand()) {
            assertThat(second.awaitTerm(s(5))).isPresent();
            assertThat(first.isLeader()).isFalse();
            assertThat(ear.with("its leader failed"))
                    .singleElement()
                    .asString()
                    .contains(UnreadableException.class.getName());
        }
    }

    @Test
    void aTermWhoseEndGotNoTimerIsReleasedAllTheSame() throws Exception {
        RefusingTime refusing = new RefusingTime(time);
        try (LockClient refused = clientOn(memory.open(time), refusing);
                Candidacy first = refused.election("e", lease(10)).stand();
                Candidacy second = theirs.stand()) {
            first.awaitTerm();
            refusing.refuse(1);
            assertThatThrownBy(first::resign).isInstanceOf(InternalError.class);
            assertThat(second.awaitTerm(s(5))).isPresent();
        }
    }

    @Test
    void workIsInterruptedWhenItsTermIsLostAndNoTermBeginsBeforeItHasReturned() throws Exception {
        CountDownLatch mayReturn = new CountDownLatch(1);
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Candidacy candidacy = ours.lead(term -> {
            told.add("began");
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                interrupted.complete(term.isValid());
                mayReturn.await();
            }
        });
        soon(() -> told.size() == 1);
        Breaking.shown(rival, "e", true);
        time.advance(s(11)); // its renewal is refused
        assertThat(interrupted.get(10, TimeUnit.SECONDS)).as("still leader").isFalse();
        assertThat(candidacy.isLeader()).isFalse();
        assertThat(told).hasSize(1);
        mayReturn.countDown();
        soon(() -> told.size() == 2);
        candidacy.close();
        assertThat(rival.lock("e").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    @Test
    void workThatReturnsGivesItsTermToTheNext() throws Exception {
        try (Candidacy second = theirs.stand()) {
            second.awaitTerm();
            try (Candidacy first = ours.lead(term -> told.add("worked"))) {
                soon(() -> theirs.status().waiting() == 1);
                second.resign();
                second.awaitTerm();
                assertThat(told).isNotEmpty().containsOnly("worked");
                assertThat(first.isLeader()).isFalse();
            }
        }
    }

    @Test
    void aListenerThatHangsAtTheEndOfItsTermDelaysTheNextLeaderByOneLeaseAtMost() throws Exception {
        CountDownLatch hangs = new CountDownLatch(1);
        Candidacy first = ours.stand(term -> told.add("elected"), term -> hangs.await());
        Term term = first.awaitTerm();
        soon(() -> told.size() == 1);
        try (Candidacy second = theirs.stand()) {
            first.resign();
            time.advance(s(9));
            assertThat(second.isLeader()).isFalse();
            time.advance(s(1.5));
            assertThat(second.awaitTerm().token()).isGreaterThan(term.token());
        }
        hangs.countDown();
        first.close();
    }

    @Test
    void aClosedClientClosesItsCandidacies() throws Exception {
        Candidacy candidacy = ours.stand(term -> told.add("elected"), term -> told.add("revoked"));
        soon(() -> told.size() == 1);
        client.close();
        assertThat(candidacy.isLeader()).isFalse();
        assertThat(told).containsExactly("elected", "revoked");
        assertThatThrownBy(candidacy::awaitTerm).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> ours.stand().close()).isInstanceOf(ClientClosedException.class);
    }

    @Test
    void aClientThatIsClosedReleasesTheTermWhenItsListenerHasReturnedThoughTheCloserIsInterrupted() throws Exception {
        CountDownLatch mayReturn = new CountDownLatch(1);
        Candidacy candidacy = ours.stand(term -> told.add("elected"), term -> {
            told.add("revoked");
            mayReturn.await();
        });
        soon(() -> told.size() == 1);
        Started<Void> closing = start(() -> {
            Thread.currentThread().interrupt();
            client.close();
            return null;
        });
        soon(() -> told.size() == 2);
        assertThat(candidacy.isLeader()).isFalse();
        assertThat(rival.lock("e").tryAcquire()).as("released early").isEmpty();
        Started<Void> closingToo = start(() -> {
            candidacy.close();
            return null;
        });
        assertThat(rival.lock("e").tryAcquire()).as("released early").isEmpty();
        mayReturn.countDown();
        closing.result();
        closingToo.result();
        assertThat(rival.lock("e").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    @Test
    void aClientWhoseExecutorIsBusyLeadsAllTheSame() throws Exception {
        try (LockClient busy = LockClient.builder(memory.open(time))
                        .time(time)
                        .executor(task -> {})
                        .build();
                Candidacy candidacy = busy.election("busy").stand()) {
            assertThat(candidacy.awaitTerm(s(10))).isPresent();
        }
    }

    @Test
    void aLossIsHeardThoughTheListenerOfAnotherHoldHangs() throws Exception {
        LockClient ownTelling = LockClient.builder(memory.open(time)).time(time).build();
        CountDownLatch hangs = new CountDownLatch(1);
        Hold other = ownTelling.lock("other", lease(10)).acquire();
        other.onLost(loss -> {
            told.add("hangs");
            awaitQuietly(hangs);
        });
        Breaking.shown(rival, "other", true);
        time.advance(s(11)); // its renewal is refused
        soon(() -> told.contains("hangs"));
        Candidacy candidacy =
                ownTelling.election("e", lease(10)).stand(term -> told.add("elected"), term -> told.add("revoked"));
        soon(() -> told.contains("elected"));
        Breaking.shown(rival, "e", true);
        time.advance(s(11));
        soon(() -> told.contains("revoked"));
        hangs.countDown();
        candidacy.close();
        ownTelling.close();
    }

    @Test
    void aListenerThatWaitsForItsOwnNextTermIsRefused() throws Exception {
        CompletableFuture<Throwable> refused = new CompletableFuture<>();
        CompletableFuture<Candidacy> self = new CompletableFuture<>();
        Candidacy candidacy = ours.stand(term -> told.add("elected"), term -> {
            try {
                self.get().awaitTerm();
            } catch (IllegalStateException e) {
                refused.complete(e);
            }
        });
        self.complete(candidacy);
        soon(() -> told.size() == 1);
        candidacy.resign();
        assertThat(refused.get(10, TimeUnit.SECONDS)).hasMessageContaining("'e'");
        candidacy.close();
    }

    @Test
    void aWaitForATermEndsWhenTheCandidacyIsClosed() throws Exception {
        try (Candidacy leader = theirs.stand()) {
            leader.awaitTerm();
            Candidacy candidacy = ours.stand();
            Started<Term> waiting = start(candidacy::awaitTerm);
            candidacy.close();
            assertThatThrownBy(waiting::result).hasRootCauseInstanceOf(IllegalStateException.class);
            assertThat(theirs.status().waiting()).isZero();
        }
    }

    @Test
    void aGrantOfWhichNobodyWasToldIsGivenBackBeforeTheCandidacyIsClosed() throws Exception {
        Candidacy candidacy = ours.stand();
        candidacy.awaitTerm();
        CompletableFuture<Void> queuesUp = new CompletableFuture<>();
        CompletableFuture<Void> mayQueueUp = new CompletableFuture<>();
        line.claims = before(() -> {
            queuesUp.complete(null);
            mayQueueUp.join();
        });
        candidacy.resign();
        queuesUp.join();
        Started<Void> closing = start(() -> {
            candidacy.close();
            return null;
        });
        soon(closing::isWaiting);
        CompletableFuture<Boolean> closedFirst = new CompletableFuture<>();
        line.releases = before(() -> closedFirst.complete(endsWithin(closing, s(0.3))));
        mayQueueUp.complete(null);
        assertThat(closedFirst.join()).as("closed before the grant goes back").isFalse();
        closing.result();
        assertThat(rival.lock("e").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    private static HostileStore.Gate before(Runnable action) {
        return new HostileStore.Gate() {
            @Override
            public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request) {
                action.run();
                return request.get();
            }
        };
    }

    private static boolean endsWithin(Started<Void> call, Duration time) {
        try {
            call.task().get(time.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException still) {
            return false;
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aClientStandsOnceForANameAtATime() {
        Candidacy candidacy = ours.stand();
        assertThatThrownBy(() -> ours.stand().close()).isInstanceOf(IllegalStateException.class);
        candidacy.close();
        ours.stand().close();
        assertThatThrownBy(() -> client.election("e", lease(10).reentrant(true)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private boolean advancedUntil(int calls) {
        time.advance(s(1));
        return told.size() >= calls;
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
