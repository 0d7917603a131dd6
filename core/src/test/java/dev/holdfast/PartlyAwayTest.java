package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreListener;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A store of two parts, of which one is away: what the other one answers hides nothing. */
class PartlyAwayTest extends EngineCase {
    private static final String GONE = "gone";
    private static final String HERE = "here";

    private final List<StoreEvent> heard = new CopyOnWriteArrayList<>();
    private final TwoParts parts = new TwoParts(memory.open(time));
    private final LockClient patient = LockClient.builder(parts)
            .time(time)
            .executor(Runnable::run)
            .listener(new LockListener() {
                @Override
                public void onStoreUnreachable(StoreEvent.Unreachable event) {
                    heard.add(event);
                }

                @Override
                public void onStoreReachable(StoreEvent.Reachable event) {
                    heard.add(event);
                }
            })
            .build();

    /** Kept: a hold to which nobody refers is not renewed once the garbage collector finds it. */
    private final List<Hold> holdsOfAnother = new ArrayList<>();

    @BeforeEach
    void anotherHoldsBoth() throws InterruptedException {
        holdsOfAnother.add(rival.lock(GONE).acquire());
        holdsOfAnother.add(rival.lock(HERE).acquire());
    }

    @AfterEach
    void closePatient() {
        parts.isAway = false;
        parts.isDead = false;
        patient.close();
    }

    @Test
    void aTimedWaitForALockOfThePartThatIsAwaySaysSo() throws Exception {
        CompletableFuture<Hold> beside = patient.lock(GONE).acquireAsync();
        Started<Optional<Hold>> gone =
                startAndWaitUntilItWaits(() -> patient.lock(GONE).tryAcquire(s(3)));
        Started<Optional<Hold>> here =
                startAndWaitUntilItWaits(() -> patient.lock(HERE).tryAcquire(s(3)));
        parts.isAway = true;
        time.advance(s(2.9));
        patient.lock(HERE).status();
        time.advance(s(0.1));

        assertThatThrownBy(gone::result).hasCauseInstanceOf(StoreUnavailableException.class);
        assertThat(here.result()).isEmpty();
        assertThat(beside).isNotDone();
    }

    @Test
    void aWaitWithoutATimeEndsAfterTheOutageLimitOfItsPart() {
        CompletableFuture<Hold> gone = patient.lock(GONE).acquireAsync();
        CompletableFuture<Hold> here = patient.lock(HERE).acquireAsync();
        parts.isAway = true;
        parts.listener.unreachable(GONE, new StoreUnavailableException("away"));
        for (int second = 0; second < 66; second++) {
            time.advance(s(1));
            patient.lock(HERE).status();
            parts.listener.reachable(HERE);
        }

        assertThat(gone).isCompletedExceptionally();
        assertThat(here).isNotDone();
    }

    @Test
    void aWaitEndsAfterTheOutageLimitAlsoWhereItsNameMovedToAPartThatWasAway() {
        parts.isAway = true;
        assertThatThrownBy(() -> patient.lock(GONE).status()).isInstanceOf(StoreUnavailableException.class);
        CompletableFuture<Hold> moved = patient.lock(HERE).acquireAsync();
        advance(60, s(1));

        parts.isMoved = true;
        parts.listener.unreachable(HERE, new StoreUnavailableException("away"));
        advance(66, s(1));

        assertThat(moved).isCompletedExceptionally();
    }

    @Test
    void anOutageThatAClaimReportedEndsWhenThePartAnswersThoughNobodyWaitsAnyMore() {
        CompletableFuture<Hold> gone = patient.lock(GONE).acquireAsync();
        parts.isDead = true;
        parts.listener.unreachable(GONE, new StoreUnavailableException("away"));
        advance(66, s(1));
        assertThat(gone).isCompletedExceptionally();

        parts.isDead = false;
        time.advance(s(2));

        soon(() -> heard.size() == 2);
    }

    @Test
    void anOutageThatAClaimReportedLastsAsLongAsItWaitsThoughThePartAnswersQuestions() {
        CompletableFuture<Hold> gone = patient.lock(GONE).acquireAsync();
        parts.listener.unreachable(GONE, new StoreUnavailableException("away"));
        advance(3, s(1));
        parts.listener.reachable(GONE);

        soon(() -> heard.size() == 2);
        assertThat(heard).last().isEqualTo(new StoreEvent.Reachable(s(3), parts.description()));
        assertThat(gone).isNotDone();
    }

    @Test
    void theOutageOfAPartEndsWhenThatPartAnswers() {
        parts.isAway = true;
        assertThatThrownBy(() -> patient.lock(GONE).status()).isInstanceOf(StoreUnavailableException.class);
        time.advance(s(1));
        patient.lock(HERE).status();
        assertThatThrownBy(() -> patient.lock(GONE).status()).isInstanceOf(StoreUnavailableException.class);
        time.advance(s(1));
        parts.isAway = false;
        patient.lock(GONE).status();

        soon(() -> heard.size() == 2);
        assertThat(heard)
                .containsExactly(
                        new StoreEvent.Unreachable("away", parts.description()),
                        new StoreEvent.Reachable(s(2), parts.description()));
    }

    @Test
    void aPartThatIsBackIsNoticedThoughNobodyWantsAnythingOfIt() {
        parts.isAway = true;
        assertThatThrownBy(() -> patient.lock(GONE).status()).isInstanceOf(StoreUnavailableException.class);
        parts.isAway = false;
        time.advance(s(2));

        soon(() -> heard.size() == 2);
    }

    @Test
    void aNameThatAnotherPartKeepsByNowEndsTheOutageThere() {
        parts.isAway = true;
        assertThatThrownBy(() -> patient.lock(GONE).status()).isInstanceOf(StoreUnavailableException.class);
        time.advance(s(1));
        parts.isAway = false;
        parts.isTakenOver = true;
        patient.lock(HERE).status();

        soon(() -> heard.size() == 2);
    }

    @Test
    void aHoldWhosePartDoesNotAnswerRenewalsIsReportedWhileOthersAreRenewed() throws Exception {
        rival.close();
        time.advance(s(40)); // its leases
        Hold gone = patient.lock(GONE).acquire();
        Hold here = patient.lock(HERE).acquire();
        parts.isAway = true;
        advance(12, s(1));
        soon(() -> heard.size() == 1);
        assertThat(heard.get(0))
                .isInstanceOfSatisfying(
                        StoreEvent.Unreachable.class,
                        event -> assertThat(event.reason()).isEqualTo("away"));

        advance(30, s(1));

        assertThat(gone.isValid()).isFalse();
        assertThat(here.isValid()).isTrue();
    }

    @Test
    void aPartThatKeepsItsAnswerBackCostsNoHoldOfAnother() throws Exception {
        rival.close();
        time.advance(s(40)); // its leases
        Hold silent = patient.lock(GONE).acquire();
        Hold here = patient.lock(HERE).acquire();
        parts.isSilent = true;

        advance(40, s(1));

        assertThat(silent.isValid()).isFalse();
        assertThat(here.isValid()).isTrue();
    }

    /** Keeps names that begin alike in one part; one part may be away. */
    private static final class TwoParts extends ForwardedStore {
        volatile boolean isAway;
        volatile boolean isSilent;
        volatile boolean isDead;
        volatile boolean isTakenOver;
        volatile boolean isMoved;
        volatile StoreListener listener;

        TwoParts(Store store) {
            super(store);
        }

        @Override
        public String part(String name) {
            return isTakenOver ? HERE : isMoved || name.startsWith(GONE) ? GONE : HERE;
        }

        @Override
        public void listen(StoreListener told) {
            listener = told;
            super.listen(told);
        }

        @Override
        public CompletionStage<LockStatus> status(String name) {
            return isAway && part(name).equals(GONE)
                    ? CompletableFuture.failedFuture(new StoreUnavailableException("away"))
                    : super.status(name);
        }

        @Override
        public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
            if (grants.stream().noneMatch(grant -> part(grant.name()).equals(GONE))) {
                return super.renew(grants);
            }
            return isSilent
                    ? new CompletableFuture<>()
                    : isAway
                            ? CompletableFuture.failedFuture(new StoreUnavailableException("away"))
                            : super.renew(grants);
        }

        @Override
        <T> CompletionStage<T> ask(Supplier<CompletionStage<T>> request) {
            return isDead ? CompletableFuture.failedFuture(new StoreUnavailableException("away")) : request.get();
        }
    }
}
