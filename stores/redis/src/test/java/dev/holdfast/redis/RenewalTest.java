package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.testbed.ChunkMatcher;
import dev.holdfast.testbed.ReplyDrop;
import dev.holdfast.testbed.TcpProxy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A renewal whose connection breaks is not sent again: the first may still be run, after the second, and bring an older
 * and shorter lease back. Its outcome is unknown, and the engine asks again.
 */
class RenewalTest {
    private final Rig rig = new Rig();
    private final TcpProxy proxy = TcpProxy.to(rig.server.port());
    private RedisStore store;
    private Grant grant;

    @BeforeEach
    void hold() {
        store = rig.open("redis://127.0.0.1:" + proxy.port());
        grant = Rig.hold(store, "renewed");
        Rig.renew(store, grant);
    }

    @AfterEach
    void stop() {
        rig.close();
        proxy.close();
    }

    @Test
    void theOneThatAwaitsItsAnswerIsNotSentAgain() {
        ReplyDrop lost = dropReplyTo(grant.id());

        var renewal = store.renew(List.of(grant));

        assertThatThrownBy(() -> Rig.get(renewal))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("redis://127.0.0.1:" + proxy.port());
        assertThat(carriedOut(lost)).isEqualTo(1);
        assertThat(Rig.renew(store, grant)).as("asked again").isEqualTo(Verdict.HELD);
    }

    /** Lettuce itself would repeat the requests behind the one that met the end of the connection. */
    @Test
    void theOneBehindAnotherRequestIsNotSentAgain() {
        ReplyDrop lost = dropReplyTo(grant.id());
        CompletableFuture<CompletionStage<Map<ClaimId, Renewal>>> sent = new CompletableFuture<>();

        store.beforeSending("renewed", () -> {
            store.status("another");
            sent.complete(store.renew(List.of(grant)));
        });

        assertThatThrownBy(() -> Rig.get(sent.join())).isInstanceOf(StoreUnavailableException.class);
        assertThat(carriedOut(lost)).isEqualTo(1);
        assertThat(Rig.renew(store, grant)).as("asked again").isEqualTo(Verdict.HELD);
    }

    private ReplyDrop dropReplyTo(ClaimId id) {
        ReplyDrop lost = proxy.dropNextReply(ChunkMatcher.containing(id.value()));
        rig.commands();
        return lost;
    }

    /** How many renewals the server has run, counted once all that could have been sent again has been. */
    private int carriedOut(ReplyDrop lost) {
        lost.awaitBite(Rig.TIMEOUT);
        Rig.get(store.status("renewed"));
        return rig.commands().get("pexpire");
    }
}
