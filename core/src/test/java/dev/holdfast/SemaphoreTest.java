package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** So many at once and no more. */
class SemaphoreTest extends EngineCase {
    private final DistributedSemaphore three = client.semaphore("s", 3, lease(10));
    private final DistributedSemaphore theirs = rival.semaphore("s", 3, lease(10));

    @Test
    void noMorePermitsAreOutThanThereAre() throws Exception {
        Hold one = three.acquire();
        Hold two = theirs.acquire();
        Hold last = three.acquire();
        assertThat(three.tryAcquire()).isEmpty();
        assertThat(theirs.tryAcquire()).isEmpty();
        assertThat(Set.of(one.id(), two.id(), last.id())).hasSize(3);
        assertThat(Set.of(one.token(), two.token(), last.token())).hasSize(3);
        two.close();
        two.close(); // gives nothing back a second time
        Hold next = three.acquire();
        assertThat(theirs.tryAcquire()).isEmpty();
        List.of(one, last, next).forEach(Hold::close);
    }

    @Test
    void severalArePermittedTogetherOrNotAtAll() throws Exception {
        Hold two = three.acquire(2);
        assertThat(theirs.tryAcquire(2)).isEmpty();
        try (Hold one = theirs.acquire(1)) {
            assertThat(one.isValid()).isTrue();
        }
        two.close();
        assertThat(theirs.tryAcquire(3)).hasValueSatisfying(Hold::close);
    }

    @Test
    void aPermitPassesToTheNextOfThisClientWithoutTheStore() {
        List<Hold> out = List.of(
                three.acquireAsync(1).join(),
                three.acquireAsync(1).join(),
                three.acquireAsync(1).join());
        List<CompletableFuture<Hold>> waiting =
                List.of(three.acquireAsync(1), three.acquireAsync(1), three.acquireAsync(1));
        int claims = line.claimed.size();
        assertThat(rival.semaphore("s", 3).status().waiting()).isEqualTo(1);
        Set<Long> tokens = new HashSet<>();
        out.forEach(hold -> tokens.add(hold.token()));
        out.forEach(Hold::close);
        waiting.forEach(next -> tokens.add(next.join().token()));
        assertThat(tokens).as("each hold has a token of its own").hasSize(6);
        assertThat(line.claimed).hasSize(claims);
        assertThat(line.released).isEmpty();
        waiting.forEach(next -> next.join().close());
        assertThat(theirs.tryAcquire(3)).hasValueSatisfying(Hold::close);
    }

    @Test
    void oneWhoWantsManyIsNotOvertakenByThoseWhoWantFew() {
        Hold two = three.acquireAsync(2).join();
        CompletableFuture<Hold> many = three.acquireAsync(3);
        CompletableFuture<Hold> few = three.acquireAsync(1);
        assertThat(few).isNotDone();
        assertThat(three.tryAcquire()).isEmpty();
        two.close();
        assertThat(many).isDone();
        assertThat(few).isNotDone();
        many.join().close();
        assertThat(few).isDone();
        few.join().close();
    }

    @Test
    void whoGivesUpLeavesNothingBehind() {
        Hold all = theirs.acquireAsync(3).join();
        CompletableFuture<Hold> first = three.acquireAsync(2);
        CompletableFuture<Hold> second = three.acquireAsync(1);
        first.cancel(false);
        second.cancel(false);
        assertThat(three.status().waiting()).isZero();
        all.close();
        assertThat(theirs.tryAcquire(3)).hasValueSatisfying(Hold::close);
    }

    @Test
    void thePermitsOfADeadClientComeBackWithItsLease() {
        LockClient doomed = clientOn(memory.open(time), time);
        assertThat(doomed.semaphore("s", 3, lease(10).autoRenew(false)).tryAcquire(3))
                .isPresent();
        CompletableFuture<Hold> next = three.acquireAsync(3);
        advance(9, s(1));
        assertThat(next).isNotDone();
        advance(2, s(1));
        assertThat(next).isDone();
        next.join().close();
        doomed.close();
    }

    @Test
    void clientsThatDisagreeEachKeepTheirOwnNumber() throws Exception {
        DistributedSemaphore wider = rival.semaphore("s", 5, lease(10));
        Hold all = three.acquire(3);
        Hold more = wider.acquire(2);
        assertThat(wider.tryAcquire()).isEmpty();
        all.close();
        assertThat(three.tryAcquire(2))
                .as("two are out, and three is the bound")
                .isEmpty();
        Hold one = three.acquire(1);
        one.close();
        more.close();
    }

    @Test
    void aLostPermitSaysSo() throws Exception {
        Hold permit = three.acquire();
        permit.onLost(losses::add);
        Breaking.shown(rival, "s", true);
        advance(4, s(1));
        soon(() -> losses.size() == 1);
        assertThatThrownBy(permit::close).isInstanceOf(HoldLostException.class);
    }

    @Test
    void aClosedClientGivesItsPermitsBack() throws Exception {
        LockClient leaving = clientOn(memory.open(time), time);
        Hold held = leaving.semaphore("s", 3).acquire(2);
        CompletableFuture<Hold> waiting = leaving.semaphore("s", 3).acquireAsync(3);
        leaving.close();
        assertThat(held.isValid()).isFalse();
        assertThat(waiting).isCompletedExceptionally();
        assertThat(three.tryAcquire(3)).hasValueSatisfying(Hold::close);
    }

    @Test
    void numbersThatMakeNoSenseAreRefusedAtOnce() {
        assertThatThrownBy(() -> client.semaphore("s", 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'s'");
        assertThatThrownBy(() -> three.tryAcquire(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> three.tryAcquire(4))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1 to 3");
        assertThatThrownBy(() -> client.semaphore("s", 1, lease(1).reentrant(true)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
