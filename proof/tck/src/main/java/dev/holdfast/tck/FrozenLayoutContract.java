package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holder;
import dev.holdfast.LockStatus;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What version 0.1.0 keeps in a store, read by the present version: the {@linkplain FrozenLayout file} is put into a server
 * by the server's own means. And the other way round: what the present version keeps is what the file says.
 *
 * <p>The claims are known by their digits: {@code held} is held by 1, {@code broken} was held by 8; where waiters are kept,
 * {@code waited} is held by 2, and 3 waits. {@link FrozenQueuesContract} has those of stores that keep more.
 */
public abstract class FrozenLayoutContract {
    /** How long the grants live that are stored. */
    protected static final Duration LEASE = Duration.ofSeconds(30);

    private static final Holder HOLDER = new Holder("host", 7, "main", "label");

    final Patience patience = new Patience(Duration.ofSeconds(30));
    private final KitTime time = new KitTime();
    private final List<Store> stores = new ArrayList<>();
    RawClient client;

    /** What was frozen. */
    protected abstract FrozenLayout layout();

    /** Removes everything of Holdfast. */
    protected abstract void empty() throws Exception;

    /** Carries out a command of the file on the server. */
    protected abstract void run(String command) throws Exception;

    /** Everything that is stored, as the commands that the file would have for it. */
    protected abstract List<String> stored() throws Exception;

    /** What the words of the file stand for that each run has its own of. */
    protected Map<String, String> own() {
        return Map.of();
    }

    /** The present version's store. */
    protected abstract Store open(StoreContext context) throws Exception;

    /** Ends a grant that was put into the store as its client would: here, by its id. */
    protected void end(Grant grant) throws Exception {
        assertThat(client.release(grant)).isTrue();
    }

    /** Brings about what the store has besides exclusive grants. */
    void writeMore(RawClient now) throws Exception {}

    @BeforeEach
    void empties() throws Exception {
        empty();
    }

    @AfterEach
    void closes() {
        stores.forEach(Store::close);
        time.close();
    }

    @Test
    void whatIsStoredNowIsWhatWasStoredThen() throws Exception {
        FrozenLayout.Comparison comparison = layout().begin(own());
        RawClient now = open();
        now.hold(claim(1, "held", Mode.EXCLUSIVE));
        assertThat(now.breakGrant(now.hold(claim(8, "broken", Mode.EXCLUSIVE)), false))
                .isTrue();
        if (now.store.capabilities().countsWaiters()) {
            now.hold(claim(2, "waited", Mode.EXCLUSIVE));
            now.queue(claim(3, "waited", Mode.EXCLUSIVE));
        }
        writeMore(now);

        comparison.requireSame(stored());
    }

    @Test
    void aHeldLockIsSeenAndKeptFromOthersUntilItEnds() throws Exception {
        put(Duration.ZERO);
        Grant held = shown(1, "held", Mode.EXCLUSIVE);

        assertThat(client.attempt("held")).as("a rival").isEmpty();
        assertThat(client.renew(held).verdict()).isEqualTo(renewed());
        assertThat(client.renew(grant(0, "held", Mode.EXCLUSIVE, held.number())).verdict())
                .as("of another claim")
                .isEqualTo(Verdict.LOST);
        assertThat(client.listedNames("hel")).containsExactly("held");
        RawClient.Queued rival = client.queue("held");
        assertThat(rival.isAnswered()).isFalse();
        end(held);
        assertThat(rival.granted().number()).isGreaterThan(held.number());
    }

    @Test
    void numbersRiseAboveThoseStoredEvenIfTheClockIsBehindThem() throws Exception {
        put(Duration.ofMinutes(1));
        Grant held = shown(1, "held", Mode.EXCLUSIVE);

        end(held);

        assertThat(client.holdWhenFree("held").number()).isGreaterThan(held.number());
    }

    @Test
    void aBrokenLockIsKeptFromAllUntilItsLeaseEnds() throws Exception {
        put(Duration.ZERO);
        Grant broken = shown(8, "broken", Mode.EXCLUSIVE);

        assertThat(client.renew(broken).verdict()).isEqualTo(Verdict.LOST);
        assertThat(client.attempt("broken")).isEmpty();
        assertThat(client.breakGrant(broken, true)).isTrue();
        assertThat(client.hold("broken").number()).isGreaterThan(broken.number());
    }

    /**
     * Puts what was frozen into the server, and opens the present version's store on it.
     *
     * @param ahead how far the clock was ahead when it was stored
     */
    protected final void put(Duration ahead) throws Exception {
        for (String command : layout().commands(ahead, own())) {
            run(command);
        }
        client = open();
    }

    private RawClient open() throws Exception {
        Store store = open(new StoreContext(time));
        store.listen(new IgnoringListener());
        stores.add(store);
        return new RawClient(store, patience);
    }

    /** The grant of a claim, with the number that the status shows, after everything it shows was compared. */
    Grant shown(int digit, String name, Mode mode) {
        LockStatus.Held held = client.status(name).grant().orElseThrow();
        assertThat(held.mode()).isEqualTo(mode.kind());
        assertThat(held.holder()).isEqualTo(HOLDER);
        assertThat(held.heldFor()).isLessThan(Duration.ofSeconds(20));
        assertThat(held.leaseLeft()).isBetween(LEASE.dividedBy(4), LEASE.multipliedBy(4));
        return grant(digit, name, mode, held.token() / RawClient.TOKENS_PER_NUMBER);
    }

    Grant grant(int digit, String name, Mode mode, long number) {
        return new Grant(ClaimId.of(FrozenLayout.id(digit)), name, mode, LEASE, number, time.nanoTime());
    }

    Claim claim(int digit, String name, Mode mode) {
        return new Claim(ClaimId.of(FrozenLayout.id(digit)), name, mode, LEASE, false, 0, HOLDER);
    }

    /** A grant with a lease is renewed under its id by any client, one of a session by the client of that session alone. */
    Verdict renewed() {
        return client.store.capabilities().sessionBound() ? Verdict.LOST : Verdict.HELD;
    }
}
