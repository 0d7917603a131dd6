package dev.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.memory.ManualTime;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.StoreListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A store that sends no messages is asked from time to time whether claims wait. */
@Timeout(120)
class WaiterPollTest {
    private final ManualTime time = new ManualTime();
    private final Map<ClaimId, Boolean> rows = new HashMap<>();
    private final List<Integer> questions = new ArrayList<>();
    private final List<Grant> wanted = new ArrayList<>();
    private final List<Grant> suspects = new ArrayList<>();
    private boolean away;
    private boolean broken;
    private final WaiterPoll poll = new WaiterPoll(this::answer, (after, task) -> time.schedule(task, after));

    {
        poll.listen(new StoreListener() {
            @Override
            public void lost(Grant grant) {}

            @Override
            public void suspect(Grant grant) {
                suspects.add(grant);
            }

            @Override
            public void wanted(Grant grant) {
                wanted.add(grant);
            }
        });
    }

    private CompletableFuture<Map<ClaimId, Boolean>> answer(List<Grant> grants) {
        questions.add(grants.size());
        if (away) {
            return CompletableFuture.failedFuture(new StoreUnavailableException("away"));
        }
        if (broken) {
            broken = false;
            return CompletableFuture.completedFuture(unreadable());
        }
        Map<ClaimId, Boolean> standing = new HashMap<>();
        grants.stream().map(Grant::id).filter(rows::containsKey).forEach(id -> standing.put(id, rows.get(id)));
        return CompletableFuture.completedFuture(standing);
    }

    private static Map<ClaimId, Boolean> unreadable() {
        return new HashMap<>() {
            @Override
            public Boolean get(Object id) {
                throw new OutOfMemoryError("of this test");
            }
        };
    }

    private Grant standing(boolean contended) {
        Grant grant = new Grant(ClaimId.random(), "a", Mode.EXCLUSIVE, Duration.ofSeconds(30), 1L, time.nanoTime());
        rows.put(grant.id(), contended);
        return grant;
    }

    private boolean watch(Grant grant) {
        return poll.watch(grant).toCompletableFuture().join();
    }

    private void rounds(int times) {
        for (int i = 0; i < times; i++) {
            time.advance(WaiterPoll.INTERVAL);
        }
    }

    @Test
    void aClaimThatWaitsAlreadyIsInTheAnswer() {
        assertThat(watch(standing(true))).isTrue();

        rounds(3);
        assertThat(questions).containsExactly(1);
        assertThat(wanted).isEmpty();
    }

    @Test
    void aClaimThatComesLaterIsReportedOnce() {
        Grant grant = standing(false);
        assertThat(watch(grant)).isFalse();
        rounds(3);
        assertThat(wanted).isEmpty();

        rows.put(grant.id(), true);
        rounds(3);

        assertThat(wanted).containsExactly(grant);
        assertThat(questions).hasSize(5);
    }

    @Test
    void grantsThatAreForgottenOrGoneAreNotAskedFor() {
        Grant forgotten = standing(false);
        Grant gone = standing(false);
        watch(forgotten);
        watch(gone);
        poll.forget(forgotten);
        rows.remove(gone.id());
        rounds(2);
        questions.clear();

        rounds(3);

        assertThat(questions).isEmpty();
    }

    @Test
    void aGrantThatIsGoneIsReportedAsSuspectOnce() {
        Grant gone = standing(false);
        Grant forgotten = standing(false);
        watch(gone);
        watch(forgotten);
        poll.forget(forgotten);
        rows.clear();

        rounds(3);

        assertThat(suspects).containsExactly(gone);
        assertThat(wanted).isEmpty();
    }

    @Test
    void aGrantThatIsGoneWhenItIsWatchedIsReportedAsSuspect() {
        Grant gone = standing(false);
        rows.clear();

        assertThat(watch(gone)).isFalse();

        assertThat(suspects).containsExactly(gone);
        questions.clear();
        rounds(3);
        assertThat(questions).isEmpty();
    }

    @Test
    void aListenerThatThrowsDoesNotKeepTheOthersFromBeingAskedFor() {
        Grant broken = standing(false);
        Grant fine = standing(false);
        poll.listen(new StoreListener() {
            @Override
            public void lost(Grant grant) {}

            @Override
            public void suspect(Grant grant) {}

            @Override
            public void wanted(Grant grant) {
                if (grant == broken) {
                    throw new IllegalStateException("thrown on purpose");
                }
                wanted.add(grant);
            }
        });
        Grant later = standing(false);
        watch(broken);
        watch(fine);
        watch(later);
        rows.put(broken.id(), true);
        rows.put(fine.id(), true);
        rounds(1);

        rows.put(later.id(), true);
        rounds(2);

        assertThat(wanted).containsExactly(fine, later);
    }

    @Test
    void aGrantThatIsWatchedAgainUnderAnotherNumberIsAskedForOnce() {
        Grant first = standing(false);
        watch(first);
        Grant again = new Grant(first.id(), first.name(), first.mode(), first.lease(), 2L, time.nanoTime());
        watch(again);
        rounds(2);
        questions.clear();
        rounds(1);
        assertThat(questions).containsExactly(1);

        rows.put(first.id(), true);
        rounds(1);

        assertThat(wanted).containsExactly(again);
    }

    @Test
    void manyGrantsAreAskedForInTurns() {
        List<Grant> grants = new ArrayList<>();
        for (int i = 0; i < 3 * WaiterPoll.AT_A_TIME; i++) {
            Grant grant = standing(false);
            watch(grant);
            grants.add(grant);
        }
        rounds(1);
        questions.clear();
        grants.forEach(grant -> rows.put(grant.id(), true));

        rounds(3);

        assertThat(questions).containsExactly(256, 256, 256);
        assertThat(wanted).containsExactlyInAnyOrderElementsOf(grants);
    }

    @Test
    void aQuestionWithoutAnAnswerIsAskedAgainLessOften() {
        Grant grant = standing(false);
        watch(grant);
        away = true;
        questions.clear();
        rounds(100);
        assertThat(questions).hasSizeBetween(2, 3);

        away = false;
        rows.put(grant.id(), true);
        rounds(51);

        assertThat(wanted).containsExactly(grant);
    }

    @Test
    void afterTheCloseNothingIsAsked() {
        watch(standing(false));
        poll.close();
        questions.clear();

        rounds(3);

        assertThat(questions).isEmpty();
    }

    @Test
    void grantsWhoseAnswerCannotBeReadAreAskedForAgain() {
        Grant one = standing(false);
        Grant two = standing(false);
        watch(one);
        watch(two);
        broken = true;
        rounds(1);
        assertThat(broken).isFalse();
        rows.put(two.id(), true);

        time.advance(Duration.ofSeconds(1));

        assertThat(wanted).containsExactly(two);
        questions.clear();
        rounds(1);
        assertThat(questions).as("each grant once").containsExactly(1);
    }
}
