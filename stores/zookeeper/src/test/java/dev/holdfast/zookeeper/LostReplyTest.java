package dev.holdfast.zookeeper;

import static dev.holdfast.zookeeper.RawStore.answer;
import static dev.holdfast.zookeeper.RawStore.claim;
import static dev.holdfast.zookeeper.RawStore.granted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.IgnoringListener;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.ChunkMatcher;
import dev.holdfast.testbed.ReplyDrop;
import dev.holdfast.testbed.TcpProxy;
import dev.holdfast.testbed.ZooKeeperServer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The connection breaks before a reply of the servers arrives. */
@Timeout(120)
class LostReplyTest {
    private static final Duration TIME_LIMIT = Duration.ofSeconds(30);

    @AutoClose
    private static final ZooKeeperServer server = ZooKeeperServers.quick();

    private final KitTime time = new KitTime();
    private TcpProxy proxy;
    private Store store;

    @BeforeEach
    void open() {
        proxy = TcpProxy.to(server.port());
        store = new ZooKeeperStoreProvider()
                .open("zk://127.0.0.1:" + proxy.port() + "?timeout=30s&tick=300ms&session=30s", new StoreContext(time));
    }

    @AfterEach
    void close() {
        store.close();
        proxy.close();
        time.close();
    }

    @Test
    void aReleaseThatIsSentTwiceIsNoLoss() throws Exception {
        Grant grant = granted(Asked.of(store, claim("released")));
        ReplyDrop drop = proxy.dropNextReply(ChunkMatcher.containing("/x-" + grant.id()));

        CompletionStage<Boolean> released = store.release(grant);

        drop.awaitBite(TIME_LIMIT);
        assertThat(answer(released)).isTrue();
    }

    @Test
    void aReleaseThatLeftWithTheNextClaimAndIsSentTwiceIsNoLoss() throws Exception {
        Grant grant = granted(Asked.of(store, claim("exchanged")));
        ReplyDrop drop = proxy.dropNextReply(ChunkMatcher.containing("/x-" + grant.id()));
        CompletableFuture<Boolean> released = new CompletableFuture<>();
        CompletableFuture<Grant> next = new CompletableFuture<>();

        store.beforeSending("exchanged", () -> {
            store.release(grant).thenAccept(released::complete);
            Asked.of(store, claim("exchanged")).answer().thenAccept(granted -> next.complete(granted.orElseThrow()));
        });

        drop.awaitBite(TIME_LIMIT);
        assertThat(answer(released)).isTrue();
        assertThat(answer(next).number()).isGreaterThan(grant.number());
    }

    /** The failures of a renewal's requests are reported one after the other, and it is repeated at the first of them. */
    @Test
    void aGrantWhoseRenewalIsRepeatedWhileItFailsIsReportedAsBroken() throws Exception {
        Grant grant = granted(Asked.of(store, claim("broken")));
        ReplyDrop drop = proxy.dropNextReply(ChunkMatcher.containing("/holdfast"));
        CompletableFuture<Renewal> again = new CompletableFuture<>();
        renewUntilAnswered(grant, again);
        drop.awaitBite(TIME_LIMIT);
        assertThat(answer(again).verdict()).isEqualTo(Renewal.Verdict.HELD);

        assertThat(answer(store.breakGrant("broken", grant.number(), false))).isTrue();

        assertThat(answer(store.renew(List.of(grant))).get(grant.id()).verdict())
                .isEqualTo(Renewal.Verdict.LOST);
    }

    /** The failure of the first reading is reported before that of the second, which must not end the watch of a third. */
    @Test
    void aWaitingClaimIsSeenThoughARenewalWasRepeatedWhileItFailed() throws Exception {
        Grant grant = granted(Asked.of(store, claim("contended")));
        ReplyDrop drop = proxy.dropNextReply(ChunkMatcher.containing("/holdfast"));
        List<CompletableFuture<Renewal>> renewals = List.of(new CompletableFuture<>(), new CompletableFuture<>());
        renewals.forEach(each -> renewUntilAnswered(grant, each));
        drop.awaitBite(TIME_LIMIT);
        for (CompletableFuture<Renewal> each : renewals) {
            assertThat(answer(each).verdict()).isEqualTo(Renewal.Verdict.HELD);
        }

        Asked waits = Asked.of(store, claim("contended"));

        await().atMost(TIME_LIMIT)
                .until(() -> answer(store.renew(List.of(grant))).get(grant.id()).contended());
        waits.cancel();
    }

    /** The watch has fired, and the children are read to see whether a claim waits: nothing else would report it. */
    @Test
    void aHolderIsNotifiedThatItsLockIsWantedThoughTheConnectionBrokeAtThatMoment() throws Exception {
        CompletableFuture<Grant> wanted = new CompletableFuture<>();
        store.listen(new IgnoringListener() {
            @Override
            public void wanted(Grant grant) {
                wanted.complete(grant);
            }
        });
        Grant grant = granted(Asked.of(store, claim("wanted")));
        assertThat(answer(store.watch(grant))).isFalse();
        ReplyDrop drop = proxy.dropNextReply(ChunkMatcher.containing("wanted"));

        try (Store other = new ZooKeeperStoreProvider()
                .open("zk://127.0.0.1:" + server.port() + "?timeout=30s&session=30s", new StoreContext(time))) {
            CompletionStage<Optional<Grant>> waits =
                    Asked.of(other, claim("wanted")).answer();

            drop.awaitBite(TIME_LIMIT);
            assertThat(answer(wanted)).isEqualTo(grant);
            assertThat(waits.toCompletableFuture()).isNotDone();
        }
    }

    private void renewUntilAnswered(Grant grant, CompletableFuture<Renewal> answer) {
        store.renew(List.of(grant)).whenComplete((renewed, failure) -> {
            if (failure == null) {
                answer.complete(renewed.get(grant.id()));
            } else {
                renewUntilAnswered(grant, answer);
            }
        });
    }
}
