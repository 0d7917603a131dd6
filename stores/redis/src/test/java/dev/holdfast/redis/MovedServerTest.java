package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Grant;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.Ports;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.RespConnection;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** An address that leads to another server from now on, while the connections to the first one stay. */
class MovedServerTest {
    private static final int MOST_TURNS = 6;

    @AutoClose
    private final Rig rig = new Rig();

    @AutoClose
    private final RedisServer next = OrSkip.orSkip(() -> RedisServer.start());

    private final int moved = Ports.free();

    @Test
    void theSubscriptionFollowsTheScriptsToTheNextServer() {
        RedisStore waiter = rig.open();
        waitOnce(waiter, rig.open());
        moveTheAddress();

        ask(moved, "CLIENT", "KILL", "TYPE", "normal");

        rig.awaitSubscribed(1); // at the next server
        RedisStore one = rig.open();
        Grant grant = Rig.hold(one, "a");
        Asked waits = Rig.queue(waiter, "a");
        rig.awaitHearing(1, "a");
        Rig.release(one, grant);
        assertThat(Rig.granted(waits)).isNotNull();
    }

    /** Its messages go astray, so each release passes it over until it says that it hears nothing. */
    @Test
    void aWaiterWhoseSubscriptionIsElsewhereGetsInBesideTwoClientsThatAlternate() {
        RedisStore waiter = rig.open();
        waitOnce(waiter, rig.open());
        moveTheAddress();
        ask(moved, "CLIENT", "KILL", "TYPE", "pubsub");
        rig.awaitSubscribed(1); // at the next server, while its scripts reach the first
        RedisStore one = rig.open("redis://127.0.0.1:" + moved);
        RedisStore two = rig.open("redis://127.0.0.1:" + moved);
        waitOnce(one, two);
        waitOnce(two, one);
        Grant grant = Rig.hold(one, "a");
        Asked waits = Rig.queue(waiter, "a");

        for (int turn = 0; turn < MOST_TURNS && !waits.answer().isDone(); turn++) {
            RedisStore holder = turn % 2 == 0 ? one : two;
            RedisStore other = turn % 2 == 0 ? two : one;
            Asked turnOfOther = Asked.of(other, Rig.waiting(Rig.claim("a")));
            Rig.until("both to wait", () -> Rig.waiting(one, "a") == 2);
            Rig.release(holder, grant);
            Rig.until(
                    "one of them to be served",
                    () -> waits.answer().isDone() || turnOfOther.answer().isDone());
            grant = waits.answer().isDone() ? grant : Rig.granted(turnOfOther);
        }

        assertThat(waits.answer()).isDone();
    }

    /** After this the client is subscribed to its channel. */
    private static void waitOnce(RedisStore waiter, RedisStore holder) {
        Grant grant = Rig.hold(holder, Rig.claim("warm-up", Duration.ofMinutes(1)));
        Asked waits = Rig.queue(waiter, "warm-up");
        Rig.release(holder, grant);
        Rig.release(waiter, Rig.granted(waits));
    }

    private void moveTheAddress() {
        int port = rig.server.port();
        assertThat(ask(port, "CONFIG", "SET", "port", Integer.toString(moved))).isEqualTo("OK");
        assertThat(ask(next.port(), "CONFIG", "SET", "port", Integer.toString(port)))
                .isEqualTo("OK");
    }

    private static String ask(int port, String... command) {
        try (RespConnection redis = RespConnection.open(port, Duration.ofSeconds(5))) {
            return redis.call(command);
        }
    }
}
