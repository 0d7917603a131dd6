package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** A store's news of a grant may overtake the answer that brings the grant: it is not forgotten. */
class EarlyNewsTest extends EngineCase {

    @Test
    void aGrantReportedLostBeforeItsAnswerIsNotTakenAndTheWaiterGetsAnother() throws Exception {
        HostileStore.HoldReply slow = holdClaims();
        CompletableFuture<Hold> waiter = client.lock("a").acquireAsync();
        String first = claimed(0);
        line.listener.lost(grantOf(first));
        line.claims = HostileStore.PASS;
        slow.open.complete(null);
        Hold hold = waiter.join();
        assertThat(hold.id()).as("of a claim of its own").isNotEqualTo(first);
        assertThat(hold.isValid()).isTrue();
        hold.close();
        assertThat(rival.lock("a").tryAcquire()).as("nothing is left behind").isPresent();
    }

    @Test
    void aTryWhoseGrantWasReportedLostBeforeItsAnswerFails() throws Exception {
        HostileStore.HoldReply slow = holdClaims();
        Started<Object> trying = start(() -> client.lock("a").tryAcquire());
        soon(() -> slow.held.get() == 1);
        line.listener.lost(grantOf(claimed(0)));
        slow.open.complete(null);
        assertUnavailable(trying);
        assertThat(rival.lock("a").tryAcquire()).isPresent();
    }

    @Test
    void aGrantInDoubtBeforeItsAnswerIsGivenOnlyOnceTheStoreHasConfirmedIt() throws Exception {
        HostileStore.HoldReply slow = holdClaims();
        CompletableFuture<Hold> waiter = client.lock("a").acquireAsync();
        line.listener.suspect(grantOf(claimed(0)));
        HostileStore.HoldReply confirmation = new HostileStore.HoldReply();
        line.renews = confirmation;
        slow.open.complete(null);
        assertThat(waiter).as("given without a confirmation").isNotDone();
        confirmation.open.complete(null);
        assertThat(waiter.join().isValid()).isTrue();
        waiter.join().close();
    }

    @Test
    void aGrantInDoubtBeforeItsAnswerThatTheStoreDoesNotKnowIsNotGiven() throws Exception {
        HostileStore.HoldReply slow = holdClaims();
        CompletableFuture<Hold> waiter = client.lock("a").acquireAsync();
        String first = claimed(0);
        line.listener.suspect(grantOf(first));
        Breaking.shown(rival, "a", true); // the store lost it with the connection
        Hold theirs = rival.lock("a").tryAcquire().orElseThrow();
        line.claims = HostileStore.PASS;
        slow.open.complete(null);
        assertThat(waiter).isNotDone();
        theirs.close();
        assertThat(waiter.join().id()).isNotEqualTo(first);
        waiter.join().close();
    }

    @Test
    void aTryWhoseGrantIsInDoubtBeforeItsAnswerFails() throws Exception {
        HostileStore.HoldReply slow = holdClaims();
        Started<Object> trying = start(() -> client.lock("a").tryAcquire());
        soon(() -> slow.held.get() == 1);
        line.listener.suspect(grantOf(claimed(0)));
        slow.open.complete(null);
        assertUnavailable(trying);
        assertThat(rival.lock("a").tryAcquire()).isPresent();
    }

    @Test
    void newsOfAGrantThatNobodyAsksForChangesNothing() throws Exception {
        try (Hold hold = client.lock("a").acquire()) {
            line.listener.lost(grantOf("00000000000000000000000000000000"));
            line.listener.suspect(grantOf("00000000000000000000000000000000"));
            assertThat(hold.isValid()).isTrue();
        }
    }

    private HostileStore.HoldReply holdClaims() {
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        line.claims = slow;
        return slow;
    }

    private String claimed(int index) {
        return line.claimed.get(index).id().value();
    }

    private static void assertUnavailable(Started<Object> trying) {
        assertThatThrownBy(trying::result)
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(StoreUnavailableException.class)
                .cause()
                .hasMessageContaining("try again");
    }
}
