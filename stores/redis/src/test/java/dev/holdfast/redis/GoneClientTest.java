package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.HoldfastException;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.Residue;
import io.lettuce.core.RedisClient;
import io.lettuce.core.event.command.CommandListener;
import io.lettuce.core.event.command.CommandStartedEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Clients without a server, closed as they begin, or on a Lettuce client that was shut down by its owner. */
class GoneClientTest {
    @AutoClose
    private final Rig rig = new Rig();

    @Test
    void onALettuceClientThatItsOwnerShutDownEveryRequestIsRefusedAndEveryWaitEnds() throws Exception {
        RedisClient redis = RedisClient.create(rig.server.uri());
        var store = RedisStores.on(redis).open(rig.context());
        Grant grant = Rig.get(Asked.of(store, Rig.claim("a")).answer()).orElseThrow();
        Rig.hold(rig.open(), "b");
        Asked waits = Asked.of(store, Rig.waiting(Rig.claim("b")));
        rig.awaitHearing(1, "b"); // it rests, by a timer that ends with the client

        redis.shutdown(0, 0, TimeUnit.SECONDS);

        for (int i = 0; i < 3; i++) { // the second once waited for ever
            assertThatThrownBy(() -> Rig.get(Asked.of(store, Rig.claim("c")).answer()))
                    .isInstanceOf(HoldfastException.class)
                    .hasMessageContaining("shut down");
            assertThatThrownBy(() -> Rig.get(store.renew(List.of(grant)))).isInstanceOf(HoldfastException.class);
            assertThatThrownBy(() -> Rig.get(store.release(grant))).isInstanceOf(HoldfastException.class);
            assertThatThrownBy(() -> Rig.get(store.list(""))).isInstanceOf(HoldfastException.class);
        }
        assertThatThrownBy(() -> Rig.get(waits.answer())).isInstanceOf(HoldfastException.class);
        assertThatThrownBy(() ->
                        Rig.get(Asked.of(store, Rig.waiting(Rig.claim("b"))).answer()))
                .isInstanceOf(HoldfastException.class);
        store.close();
    }

    @Test
    @Tag("thorough")
    void clientsClosedAsTheyBeginToWaitLeaveNoThreadAndNoConnection() throws Exception {
        RedisStore holder = rig.open();
        Rig.hold(holder, "a");
        Residue residue = Residue.watch().threads("lettuce-").begin();
        int before = connections();
        for (int i = 0; i < 60; i++) {
            RedisStore store = rig.open();
            var answer = Asked.of(store, Rig.waiting(Rig.claim("a"))).answer();
            if (i % 2 == 0) {
                Rig.until("its place", () -> Rig.waiting(holder, "a") > 0);
            }
            store.close();
            assertThat(Rig.waiting(holder, "a"))
                    .as("in the queue, after client " + i)
                    .isZero();
            assertThatThrownBy(() -> Rig.get(answer)).isInstanceOf(HoldfastException.class);
        }

        residue.assertNothingLeft(Rig.TIMEOUT);
        Rig.until("their connections to end", () -> connections() <= before);
    }

    /** The application's client stays open, and no other code would end the connections begun on it. */
    @Test
    void storesClosedAsTheyBeginToWaitLeaveNothingOnTheApplicationsClient() throws Exception {
        RedisClient redis = RedisClient.create(rig.server.uri());
        try {
            RedisStore holder = rig.open();
            Rig.hold(holder, "a");
            Residue residue =
                    Residue.watch().threads("holdfast-redis-subscribe").begin();
            int before = connections();
            for (int i = 0; i < 60; i++) {
                var store = RedisStores.on(redis).open(rig.context());
                var answer = Asked.of(store, Rig.waiting(Rig.claim("a"))).answer();
                if (i % 2 == 0) {
                    Rig.until("its place", () -> Rig.waiting(holder, "a") > 0);
                }
                store.close();
                assertThatThrownBy(() -> Rig.get(answer)).isInstanceOf(HoldfastException.class);
            }

            residue.assertNothingLeft(Rig.TIMEOUT);
            Rig.until("their connections to end", () -> connections() <= before);
        } finally {
            redis.shutdown(0, 0, TimeUnit.SECONDS);
        }
    }

    /** Lettuce would keep every command for the next connection, those too that were given up. */
    @Test
    @Tag("thorough")
    void inAnOutageNothingIsKeptForLaterThatIsNotAwaited() {
        RedisClient redis = RedisClient.create(rig.server.uri());
        AtomicInteger sent = new AtomicInteger();
        redis.addListener(new CommandListener() {
            @Override
            public void commandStarted(CommandStartedEvent event) {
                sent.incrementAndGet();
            }
        });
        try (var store = RedisStores.on(redis).open(rig.context())) {
            List<Asked> waiting = new ArrayList<>();
            RedisStore holder = rig.open();
            for (int i = 0; i < 300; i++) {
                Rig.hold(holder, "n" + i);
                waiting.add(Asked.of(store, Rig.waiting(Rig.claim("n" + i))));
            }
            Rig.until("all to wait", () -> Rig.get(holder.list("")).stream().allMatch(each -> each.waiting() == 1));

            rig.server.process().kill();
            var noticed = Asked.of(store, Rig.claim("x")).answer();
            Rig.until("the outage to be noticed", noticed::isCompletedExceptionally);
            int before = sent.get();
            Awaitility.await().pollDelay(Duration.ofSeconds(3)).until(() -> true); // each polls once a second

            assertThat(sent.get() - before).isLessThan(30);
            rig.server.process().restart();
            waiting.forEach(Rig::granted);
        } finally {
            redis.shutdown(0, 0, TimeUnit.SECONDS);
        }
    }

    private int connections() {
        return rig.call("CLIENT", "LIST").split("addr=", -1).length;
    }
}
