package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.IgnoringListener;
import dev.holdfast.testbed.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An H2 server that stands still: its driver would wait for an answer for ever. */
@Tag("thorough")
class H2OutageTest extends OnH2Server {
    /** So that each connection of a client has some. */
    private static final List<String> NAMES = List.of("a", "b", "c", "d", "e", "f", "g", "h");

    /** Well within the time for one answer, which is four seconds. */
    private static final Duration SLOW = Duration.ofSeconds(2);

    @Test
    void waitersAreNotifiedOfAHungServerAndGoOnWhenItAnswers() {
        try (Store holder = open(server.url("locks"));
                Store other = open(server.url("locks"))) {
            List<Grant> held = new ArrayList<>();
            NAMES.forEach(name ->
                    held.add(Requests.get(Asked.of(holder, Requests.claim(name)).answer())
                            .orElseThrow()));
            Set<String> told = listening(other);
            List<Asked> waiting = new ArrayList<>();
            NAMES.forEach(name -> waiting.add(Asked.of(other, Requests.waiting(name))));
            await().until(() ->
                    other.status(NAMES.get(0)).toCompletableFuture().get().waiting() == 1);

            server.process().stop();
            await().atMost(Duration.ofSeconds(30)).until(() -> told.containsAll(NAMES));
            server.process().cont();

            held.forEach(each -> assertThat(Requests.get(holder.release(each))).isTrue());
            waiting.forEach(each -> assertThat(Requests.get(each.answer())).isPresent());
        }
    }

    @Test
    void aRequestOfSeveralStatementsEndsInTimeThoughEachOfThemIsAnswered() {
        try (TcpProxy proxy = TcpProxy.to(server.process().port());
                Store store = open(proxy, ";holdfast.connections=1")) {
            proxy.toClient().delay(SLOW);

            assertThatThrownBy(() -> Requests.get(
                            Asked.of(store, Requests.claim("a new name")).answer()))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("has not answered within 5 s");

            proxy.heal();
            assertThat(Requests.get(
                            Asked.of(store, Requests.claim("another name")).answer()))
                    .isPresent();
        }
    }

    @Test
    void aRenewalThatTakesLongerThanARequestMayLetsOthersInBetween() {
        try (TcpProxy proxy = TcpProxy.to(server.process().port());
                Store store = open(proxy, ";holdfast.connections=1")) {
            List<Grant> readers = new ArrayList<>();
            NAMES.forEach(name ->
                    readers.add(Requests.get(Asked.of(store, Requests.mode(Requests.claim(name), Mode.SHARED))
                                    .answer())
                            .orElseThrow()));
            List<String> order = new CopyOnWriteArrayList<>();
            proxy.toClient().delay(SLOW.dividedBy(4));

            CompletionStage<Map<ClaimId, Renewal>> renewed =
                    store.renew(readers).whenComplete((renewals, failure) -> order.add("renewed"));
            store.status("a").whenComplete((status, failure) -> order.add("looked up"));

            assertThat(Requests.get(renewed).values())
                    .hasSameSizeAs(NAMES)
                    .allMatch(renewal -> renewal.verdict() == Verdict.HELD);
            assertThat(order).containsExactly("looked up", "renewed");
        }
    }

    @Test
    void theUrlMaySayHowLongAnAnswerMayTake() {
        try (Store store = open(server.url("locks") + ";NETWORK_TIMEOUT=2500")) {
            assertThat(Requests.get(Asked.of(store, Requests.claim("a")).answer()))
                    .isPresent();
        }
    }

    private static Set<String> listening(Store store) {
        Set<String> told = ConcurrentHashMap.newKeySet();
        store.listen(new IgnoringListener() {
            @Override
            public void unreachable(String name, Throwable why) {
                told.add(name);
            }
        });
        return told;
    }

    private Store open(TcpProxy proxy, String more) {
        return open(server.url("locks").replace(":" + server.process().port(), ":" + proxy.port()) + more);
    }
}
