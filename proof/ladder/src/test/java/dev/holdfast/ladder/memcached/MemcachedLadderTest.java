package dev.holdfast.ladder.memcached;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ladder.LadderCase;
import dev.holdfast.ladder.Rung;
import dev.holdfast.ladder.Visitor;
import dev.holdfast.ladder.VisitorProcess;
import dev.holdfast.testbed.MemcachedServer;
import dev.holdfast.testbed.Started;
import dev.holdfast.testbed.TcpProxy;
import java.time.Duration;
import java.util.function.Function;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Each fault breaks one rung in Memcached, and the next one stands: up to a release that compares nothing. */
class MemcachedLadderTest extends LadderCase {
    private static final String LOCK = "stock:7";
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final String FOR_EVER = "HD t-1";

    @Started
    private static MemcachedServer server;

    @BeforeEach
    void forgetAll() {
        server.ask("delete " + LOCK);
    }

    // ---- the process is killed

    @Test
    @Tag("thorough")
    void aKilledProcessLeavesTheItemForEver() {
        killedInside(Add.class, server.endpoint(), LOCK);

        assertThat(item()).isEqualTo(FOR_EVER);
        assertThat(Visitor.canEnter(on(Add::new), LOCK)).isFalse();
    }

    @Test
    @Tag("thorough")
    void aTouchEndsTheItem() {
        killedInside(AddThenTouch.class, server.endpoint(), LOCK);

        awaitEntry(on(AddThenTouch::new));
    }

    // ---- the process is killed between two commands

    @Test
    @Tag("thorough")
    void aProcessKilledBetweenAddAndTouchLeavesTheItemForEver() {
        killedAfterItsFirstCommand(AddThenTouch.class);

        assertThat(item()).isEqualTo(FOR_EVER);
        assertThat(Visitor.canEnter(on(AddThenTouch::new), LOCK)).isFalse();
    }

    @Test
    @Tag("thorough")
    void oneCommandHasNoBetween() {
        killedAfterItsFirstCommand(AddWithLease.class);

        assertThat(item()).isNotEqualTo(FOR_EVER);
        awaitEntry(on(AddWithLease::new));
    }

    /** The server has done it; the client is not told, and dies before it can say more. */
    private static void killedAfterItsFirstCommand(Class<? extends Rung> rung) {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                VisitorProcess first = VisitorProcess.start(rung, "127.0.0.1:" + proxy.port(), LOCK)) {
            long before = server.stat("total_items");
            proxy.toClient().hold();
            first.enters();
            proxy.toClient().awaitBite(PATIENCE);
            first.kill();
            assertThat(server.stat("total_items"))
                    .as("the first command was carried out")
                    .isGreaterThan(before);
        }
    }

    // ---- the work takes longer than the lease, and then lets go

    @Test
    void aLateHolderDeletesTheItemOfTheNext() {
        Rung third = on(AddWithLease::new);
        Visitor first = Visitor.comes(on(AddWithLease::new), LOCK);
        first.awaitInside();
        awaitTheEndOfTheItem();
        Visitor second = Visitor.comes(on(AddWithLease::new), LOCK);
        second.awaitInside();

        first.leaves();

        assertThat(Visitor.canEnter(third, LOCK)).as("beside the second").isTrue();
        second.leaves();
    }

    @Test
    void holdfastReleasesItsOwnItemAlone() throws Exception {
        holdfastReleasesItsOwnAlone("memcached://" + server.endpoint(), LOCK, Duration.ofSeconds(3));
    }

    private Rung on(Function<String, Rung> rung) {
        return keep(rung.apply(server.endpoint()));
    }

    private static void awaitEntry(Rung rung) {
        Awaitility.await().atMost(PATIENCE).until(() -> Visitor.canEnter(rung, LOCK));
    }

    private static void awaitTheEndOfTheItem() {
        Awaitility.await().atMost(PATIENCE).pollInterval(Duration.ofMillis(5)).until(() -> item().equals("EN"));
    }

    /** With the seconds that it has left, or {@code EN}. */
    private static String item() {
        return server.ask("mg " + LOCK + " t").get(0);
    }
}
