package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Renewals of holds of which some members are silent. */
class QuorumRenewalTest extends QuorumCase {
    @Test
    void aSilentMemberIsWaitedForBrieflyBesideTheLease() {
        ByHand asked = new ByHand(Duration.ofMillis(100));
        QuorumStore store = open(servers.url(), asked);
        Grant held = hold(store, Rig.claim(NAME, Duration.ofMillis(600)));
        servers.get(1).process().stop();

        CompletableFuture<Map<ClaimId, Renewal>> renewed =
                store.renew(List.of(held)).toCompletableFuture();
        Rig.until("a majority to have answered", asked::hasTask);
        asked.run();

        assertThat(Rig.get(renewed)).containsKey(held.id());
        servers.get(1).process().cont();
    }

    @Test
    void aHoldInDoubtDoesNotDelayTheOthers() {
        String doubtful = "doubtful";
        QuorumStore store = open(servers.url() + "?timeout=25s");
        RedisStore third = single(servers.get(2));
        Rig.hold(third, doubtful);
        Grant held = hold(store, Rig.claim(NAME));
        Grant inDoubt = hold(store, Rig.claim(doubtful));
        servers.get(1).process().stop();
        long before = System.nanoTime();

        Map<ClaimId, Renewal> said = Rig.get(store.renew(List.of(held, inDoubt)));

        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(15));
        assertThat(said.get(held.id()).verdict()).isEqualTo(Renewal.Verdict.HELD);
        assertThat(said.get(inDoubt.id()).verdict()).isEqualTo(Renewal.Verdict.UNKNOWN);
        servers.get(1).process().cont();
    }
}
