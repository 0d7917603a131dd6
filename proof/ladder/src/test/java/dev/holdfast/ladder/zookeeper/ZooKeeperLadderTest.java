package dev.holdfast.ladder.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.StaleTokenException;
import dev.holdfast.TokenGate;
import dev.holdfast.ladder.HoldfastRung;
import dev.holdfast.ladder.Rung;
import dev.holdfast.ladder.Visitor;
import dev.holdfast.testbed.ChunkMatcher;
import dev.holdfast.testbed.ReplyDrop;
import dev.holdfast.testbed.TcpProxy;
import dev.holdfast.testbed.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Each fault breaks one recipe in ZooKeeper, and the next one stands. */
@Tag("thorough") // it waits for sessions that end; Redis and PostgreSQL show rungs every day
class ZooKeeperLadderTest {
    private static final String SETTINGS = "?session=2s&tick=300ms&timeout=2s";
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int CROWD = 8;

    @AutoClose
    private static final ZooKeeperServer server = ZooKeeperServer.start(Map.of("tickTime", "300"));

    private final Deque<Rung> rungs = new ArrayDeque<>();

    @AfterEach
    void close() {
        rungs.forEach(Rung::close);
    }

    // ---- the node goes before it is watched

    @Test
    void aNodeThatGoesBeforeItIsWatchedCallsNobody() {
        assertThat(comesInBetween("lost", between -> new OneNode(servers(), between)))
                .isNotDone();
    }

    @Test
    void lookingAtTheAnswerFindsThatItHasGone() {
        assertThat(comesInBetween("found", between -> new OneNodeLookedAt(servers(), between)))
                .succeedsWithin(PATIENCE);
    }

    private CompletableFuture<Boolean> comesInBetween(String lock, Function<Runnable, Rung> rung) {
        Visitor first = Visitor.comes(keep(new OneNode(servers())), lock);
        first.awaitInside();
        CompletableFuture<Void> left = new CompletableFuture<>();
        Rung second = keep(rung.apply(() -> {
            first.leaves();
            left.complete(null);
        }));
        CompletableFuture<Boolean> entered = CompletableFuture.supplyAsync(() -> second.run(lock, token -> {}));
        assertThat(left).succeedsWithin(PATIENCE);
        passes(Duration.ofMillis(700));
        return entered;
    }

    // ---- many wait

    @Test
    void oneNodeWakesEverybodyForOne() {
        assertThat(wakeUpsOfACrowd("herd", OneNodeLookedAt::new)).isGreaterThanOrEqualTo(2 * CROWD);
    }

    @Test
    void sequentialNodesWakeOne() {
        assertThat(wakeUpsOfACrowd("line", SequentialNodes::new)).isEqualTo(CROWD);
    }

    private int wakeUpsOfACrowd(String lock, Function<String, ZooKeeperRung> rung) {
        Visitor first = Visitor.comes(keep(rung.apply(servers())), lock);
        first.awaitInside();
        List<ZooKeeperRung> crowd = new ArrayList<>();
        List<CompletableFuture<Boolean>> served = new ArrayList<>();
        for (int i = 0; i < CROWD; i++) {
            ZooKeeperRung one = rung.apply(servers());
            crowd.add(one);
            keep(one);
            served.add(CompletableFuture.supplyAsync(
                    () -> one.run(lock, token -> passes(Duration.ofMillis(50))),
                    task -> new Thread(task, "crowd").start()));
        }
        await().atMost(PATIENCE).until(() -> watches() >= CROWD);
        first.leaves();
        served.forEach(each -> assertThat(each).succeedsWithin(PATIENCE));
        return crowd.stream().mapToInt(ZooKeeperRung::wakeUps).sum();
    }

    // ---- the reply to the making of the node is lost

    @Test
    void aLostReplyLeavesANodeForWhichEverybodyWaits() {
        try (TcpProxy proxy = TcpProxy.to(server.port())) {
            Rung unlucky = keep(new SequentialNodes("127.0.0.1:" + proxy.port()));
            unlucky.run("orphan", token -> {});
            ReplyDrop drop = proxy.dropNextReply(ChunkMatcher.containing("/orphan/lock-"));

            CompletableFuture<Boolean> entered =
                    CompletableFuture.supplyAsync(() -> unlucky.run("orphan", token -> {}));

            drop.awaitBite(PATIENCE);
            passes(Duration.ofSeconds(2));
            assertThat(entered).isNotDone();
            unlucky.close();
            assertThat(entered).failsWithin(PATIENCE);
        }
    }

    @Test
    void holdfastFindsTheNodeByItsName() {
        try (TcpProxy proxy = TcpProxy.to(server.port())) {
            Rung unlucky = keep(new HoldfastRung("zk://127.0.0.1:" + proxy.port() + SETTINGS));
            unlucky.run("adopted", token -> {});
            proxy.dropNextReply(ChunkMatcher.containing("/adopted/x-"));
            try {
                unlucky.run("adopted", token -> {});
            } catch (dev.holdfast.StoreUnavailableException lost) {
                // it tried once, and does not know; what it left is taken away
            }
            await().atMost(PATIENCE).until(() -> Visitor.canEnter(onHoldfast(), "adopted"));
        }
    }

    // ---- the session expires

    @Test
    void aSessionThatHasExpiredIsBelievedIn() {
        try (TcpProxy proxy = TcpProxy.to(server.port())) {
            Rung briefly = keep(new SequentialNodes("127.0.0.1:" + proxy.port(), 2_000));
            Visitor first = Visitor.comes(briefly, "believed");
            first.awaitInside();
            silence(proxy);

            Visitor second = Visitor.comes(keep(new SequentialNodes(servers())), "believed");
            second.awaitInside(); // beside the first, who works on

            second.leaves();
            first.finishes();
        }
    }

    @Test
    void theTokenOfAHoldThatExpiredIsRefused() {
        TokenGate gate = new TokenGate("refused");
        try (TcpProxy proxy = TcpProxy.to(server.port())) {
            Visitor first =
                    Visitor.comes(keep(new HoldfastRung("zk://127.0.0.1:" + proxy.port() + SETTINGS)), "refused");
            long lower = first.awaitInside();
            gate.check(lower);
            silence(proxy);

            await().atMost(PATIENCE).until(() -> onHoldfast().run("refused", gate::check));

            assertThatThrownBy(() -> gate.check(lower)).isInstanceOf(StaleTokenException.class);
            first.finishes();
        }
    }

    private static void silence(TcpProxy proxy) {
        proxy.toServer().hold();
        proxy.toClient().hold();
    }

    // ----

    private Rung onHoldfast() {
        return keep(new HoldfastRung("zk://" + servers() + SETTINGS));
    }

    private static String servers() {
        return server.connectString();
    }

    private static long watches() {
        return server.command("mntr")
                .lines()
                .filter(line -> line.startsWith("zk_watch_count"))
                .mapToLong(line -> Long.parseLong(line.substring(line.lastIndexOf('\t') + 1)))
                .sum();
    }

    /** For what must not happen meanwhile. */
    private static void passes(Duration span) {
        try {
            TimeUnit.NANOSECONDS.sleep(span.toNanos());
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private Rung keep(Rung rung) {
        rungs.push(rung);
        return rung;
    }
}
