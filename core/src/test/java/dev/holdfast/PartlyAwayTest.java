package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreListener;
import java.util.Collection;
import java.util.HashMap;
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

    @BeforeEach
    void anotherHoldsBoth() throws InterruptedException {
        rival.lock(GONE).acquire();
        rival.lock(HERE).acquire();
    }

    @AfterEach
    void closePatient() {
        parts.isAway = false;
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
        patient.lock(HERE).status();

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
                        event -> assertThat(event.reason()).contains("'gone'"));

        advance(30, s(1));

        assertThat(gone.isValid()).isFalse();
        assertThat(here.isValid()).isTrue();
    }

    /** Keeps names that begin alike in one part; one part may be away. */
    private static final class TwoParts extends ForwardedStore {
        volatile boolean isAway;
        volatile boolean isTakenOver;
        volatile StoreListener listener;

        TwoParts(Store store) {
            super(store);
        }

        @Override
        public String part(String name) {
            return isTakenOver ? HERE : name.startsWith(GONE) ? GONE : HERE;
        }

        @Override
        public void listen(StoreListener told) {
            listener = told;
            super.listen(told);
        }

        @Override
        public CompletionStage<LockStatus> status(String name) {
            return isAway && name.startsWith(GONE)
                    ? CompletableFuture.failedFuture(new StoreUnavailableException("away"))
                    : super.status(name);
        }

        @Override
        public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
            return super.renew(grants).thenApply(said -> {
                Map<ClaimId, Renewal> verdicts = new HashMap<>(said);
                grants.stream()
                        .filter(grant -> isAway && part(grant.name()).equals(GONE))
                        .forEach(grant -> verdicts.put(grant.id(), Renewal.unknown(grant.sentNanos())));
                return verdicts;
            });
        }

        @Override
        <T> CompletionStage<T> ask(Supplier<CompletionStage<T>> request) {
            return request.get();
        }
    }
}
