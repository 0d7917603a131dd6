package dev.holdfast.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holder;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.spi.support.ElapsedTime;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Very many grants are due together, and the store takes its time to answer. */
class RenewalBatchesTest {
    private static final int GRANTS = 2_500;
    private static final Duration LEASE = Duration.ofSeconds(12);

    /** A request to renew, whose answer is held back. */
    private record Request(Collection<Grant> grants, CompletableFuture<Map<ClaimId, Renewal>> answer) {}

    private final PlannedTime time = new PlannedTime();
    private final LocalRace race = new LocalRace(time);
    private final Store real = race.store.open();
    private final List<Request> requests = new ArrayList<>();
    private final List<GrantState> grants = new ArrayList<>();
    private final LeaseRenewer renewer = new LeaseRenewer(
            new StoreLink(race.engine, StoreOpening.of(slow(), time)), ElapsedTime.of(time), race.engine.telemetry);

    @BeforeEach
    void allAreDue() {
        for (int i = 0; i < GRANTS; i++) {
            GrantState grant = grant("name-" + i);
            grants.add(grant);
            renewer.keep(grant);
        }
        time.set(grants.get(0).dueAt());
        time.runDue();
    }

    @AfterEach
    void stop() {
        renewer.close();
        race.engine.close();
    }

    @Test
    void theFirstAreSafeBeforeTheLastAreAnswered() {
        long before = grants.get(0).deadline();

        answer(0);

        assertThat(safeBeyond(before)).as("grants that live longer now").isEqualTo(1_000);
        answer(1);
        assertThat(safeBeyond(before)).isEqualTo(2_000);
        answer(2);
        assertThat(safeBeyond(before)).isEqualTo(GRANTS);
    }

    @Test
    void eachIsAskedForOnceAndTheNextWhenThoseBeforeAreAnswered() {
        assertThat(requests.size()).isEqualTo(1);
        answer(0);
        assertThat(requests.size()).isEqualTo(2);
        answer(1);
        assertThat(requests.size()).isEqualTo(3);
        answer(2);

        assertThat(requests.stream().flatMap(request -> request.grants.stream()).map(Grant::id))
                .hasSize(GRANTS)
                .doesNotHaveDuplicates();
    }

    @Test
    void aBatchThatIsAnsweredLateDoesNotCostTheOthersTheirLeases() {
        long before = grants.get(0).deadline();

        for (int batch = 2; batch <= 3; batch++) {
            time.set(time.nanoTime() + LEASE.toNanos() / 18);
            time.runDue();
        }

        assertThat(requests.size())
                .as("batches asked for without an answer to the first")
                .isEqualTo(3);
        answer(1);
        answer(2);
        assertThat(safeBeyond(before)).isEqualTo(GRANTS - 1_000);
    }

    @Test
    void afterAFailureTheRestIsNotAskedForAndAllAreTriedAgainSoon() {
        requests.get(0).answer.completeExceptionally(new StoreUnavailableException("the store is away"));

        assertThat(requests.size()).isEqualTo(1);
        assertThat(grants).allMatch(grant -> grant.dueAt() == time.nanoTime() + LEASE.toNanos() / 12);
        time.set(grants.get(0).dueAt());
        time.runDue();
        assertThat(requests.size()).isEqualTo(2);
    }

    @Test
    void whoAsksAboutAGrantThatEndsBeforeItsTurnIsAnswered() {
        GrantState last = grants.get(GRANTS - 1);
        List<Boolean> alone = new ArrayList<>();
        renewer.ask(last, alone::add);
        last.giveBack();

        answer(0);
        answer(1);
        assertThat(alone).containsExactly(false);
        assertThat(requests.get(2).grants)
                .extracting(Grant::id)
                .isNotEmpty()
                .doesNotContain(last.grant().id());
    }

    private void answer(int request) {
        Request asked = requests.get(request);
        asked.answer.complete(real.renew(asked.grants).toCompletableFuture().join());
    }

    private long safeBeyond(long deadline) {
        return grants.stream().filter(grant -> grant.deadline() > deadline).count();
    }

    private GrantState grant(String name) {
        LockName of = race.engine.name(name, Mode.EXCLUSIVE);
        Claim claim = new Claim(race.nextId(), name, Mode.EXCLUSIVE, LEASE, true, 0, new Holder("host", 1, "test", ""));
        Grant granted = Asked.of(real, claim).answer().join().orElseThrow();
        return new GrantState(
                new LocalLock(race.engine, of).side(of), granted, true, real.capabilities(), ElapsedTime.of(time), 0);
    }

    /** The real store, but each renewal is answered by the test. */
    private Store slow() {
        return (Store) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, with) -> {
                    if (!method.getName().equals("renew")) {
                        return method.invoke(real, with);
                    }
                    @SuppressWarnings("unchecked")
                    Request request = new Request((Collection<Grant>) with[0], new CompletableFuture<>());
                    requests.add(request);
                    return request.answer;
                });
    }
}
