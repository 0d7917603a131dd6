package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An H2 server that stands still: its driver would wait for an answer for ever. */
class H2OutageTest {
    /** So that each connection of a client has some. */
    private static final List<String> NAMES = List.of("a", "b", "c", "d", "e", "f", "g", "h");

    private H2Server server;

    @BeforeEach
    void startServer() {
        server = H2Server.start(Map.of());
    }

    @AfterEach
    void stopServer() {
        server.close();
    }

    @Test
    void waitersAreNotifiedOfAHungServerAndGoOnWhenItAnswers() {
        try (Store holder = open("");
                Store other = open("")) {
            List<Grant> held = new ArrayList<>();
            NAMES.forEach(name ->
                    held.add(Rig.get(holder.claim(Rig.claim(name)).answer()).orElseThrow()));
            Set<String> told = listening(other);
            List<Pending> waiting = new ArrayList<>();
            NAMES.forEach(name -> waiting.add(other.claim(Rig.waiting(name))));
            await().until(() ->
                    other.status(NAMES.get(0)).toCompletableFuture().get().waiting() == 1);

            server.process().stop();
            await().atMost(Duration.ofSeconds(30)).until(() -> told.containsAll(NAMES));
            server.process().cont();

            held.forEach(each -> assertThat(Rig.get(holder.release(each))).isTrue());
            waiting.forEach(each -> assertThat(Rig.get(each.answer())).isPresent());
        }
    }

    @Test
    void theUrlMaySayHowLongAnAnswerMayTake() {
        try (Store store = open(";NETWORK_TIMEOUT=2500")) {
            assertThat(Rig.get(store.claim(Rig.claim("a")).answer())).isPresent();
        }
    }

    private static Set<String> listening(Store store) {
        Set<String> told = ConcurrentHashMap.newKeySet();
        store.listen(new StoreListener() {
            @Override
            public void lost(Grant grant) {}

            @Override
            public void suspect(Grant grant) {}

            @Override
            public void unreachable(String name, Throwable why) {
                told.add(name);
            }
        });
        return told;
    }

    private Store open(String more) {
        return new JdbcStoreProvider().open(server.url("locks") + more, new StoreContext(new ServerCases.NoTimer()));
    }
}
