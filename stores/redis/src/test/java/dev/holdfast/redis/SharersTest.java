package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.support.Asked;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Readers and permits in use are counted right, whichever have expired, were broken, or were deleted. */
class SharersTest {
    private static final Duration BRIEF = Duration.ofMillis(200);
    private static final Mode ONE_OF_TWO = new Mode.Permits(1, 2);

    @AutoClose
    private final Rig rig = new Rig();

    @Test
    void breakingAPermitThatHasRunOutChangesNothing() {
        RedisStore store = rig.open();
        Grant ended = brief(store, ONE_OF_TWO);
        Grant kept = Rig.hold(store, Rig.claim("a", ONE_OF_TWO));
        awaitEnd(ended);

        assertThat(Rig.get(store.breakGrant("a", ended.number(), true))).isFalse();
        assertThat(Rig.get(store.breakGrant("a", ended.number(), false))).isFalse();

        assertThat(Rig.attempt(store, "a")).as("exclusively, beside a permit").isEmpty();
        Rig.hold(store, Rig.claim("a", ONE_OF_TWO));
        assertThat(attempt(store, ONE_OF_TWO)).as("a third of two").isEmpty();
        assertThat(Rig.release(store, kept)).isTrue();
    }

    /** A writer became a reader, closes and claims again in one step, just when another reader has expired. */
    @Test
    void aReaderThatHasRunOutIsCountedOnceWhereAReleaseAndAClaimAreOneStep() {
        RedisStore one = rig.open();
        RedisStore two = rig.open();
        Grant writer = Rig.hold(one, "a");
        assertThat(Rig.get(one.downgrade(writer))).isTrue();
        Grant ended = brief(two, Mode.SHARED);
        Grant reader = Rig.hold(two, Rig.claim("a", Mode.SHARED));
        awaitEnd(ended);
        rig.commands();

        assertThat(releaseAndClaim(one, writer)).isEmpty();

        assertThat(rig.commands().get("evalsha")).as("in one step").isEqualTo(1);
        Grant later = Rig.hold(two, Rig.claim("a", Mode.SHARED));
        assertThat(Rig.release(two, reader)).isTrue();
        assertThat(Rig.attempt(one, "a")).as("a writer beside a reader").isEmpty();
        assertThat(Rig.release(two, later)).isTrue();
        assertThat(Rig.attempt(one, "a")).isPresent();
    }

    /** Their claims expire later, and are not subtracted from a count without them. */
    @Test
    void readersOfBeforeTheStateWasDeletedOrEvictedAreNotCountedWithThoseAfter() {
        RedisStore store = rig.open();
        Grant first = brief(store, Mode.SHARED);
        Grant second = brief(store, Mode.SHARED);
        rig.call("DEL", "holdfast:{a}");
        Grant reader = Rig.hold(store, Rig.claim("a", Mode.SHARED));
        awaitEnd(first);
        awaitEnd(second);

        Rig.release(store, Rig.hold(store, Rig.claim("a", Mode.SHARED)));

        assertThat(Rig.attempt(store, "a")).as("a writer beside a reader").isEmpty();
        assertThat(Rig.release(store, reader)).isTrue();
        assertThat(Rig.attempt(store, "a")).isPresent();
    }

    @Test
    @Tag("thorough")
    void norWithAWriterThatBecameAReader() {
        RedisStore store = rig.open();
        Grant first = brief(store, Mode.SHARED);
        rig.call("DEL", "holdfast:{a}");
        Grant writer = Rig.hold(store, "a");
        assertThat(Rig.get(store.downgrade(writer))).isTrue();
        awaitEnd(first);

        Rig.release(store, Rig.hold(store, Rig.claim("a", Mode.SHARED)));

        assertThat(Rig.attempt(store, "a")).as("a writer beside a reader").isEmpty();
        assertThat(Rig.release(store, writer)).isTrue();
        assertThat(Rig.attempt(store, "a")).isPresent();
    }

    private static Optional<Grant> attempt(RedisStore store, Mode mode) {
        return Rig.get(Asked.of(store, Rig.claim("a", mode)).answer());
    }

    private static Grant brief(RedisStore store, Mode mode) {
        Claim claim = Rig.claim("a", mode);
        return Rig.hold(
                store, new Claim(ClaimId.random(), claim.name(), claim.mode(), BRIEF, false, 0, claim.holder()));
    }

    /** The server counts a lease from when it handled the claim: half a lease more is enough. */
    private static void awaitEnd(Grant brief) {
        Rig.until(
                "it to run out",
                () -> System.nanoTime() + Rig.AHEAD - brief.sentNanos()
                        > BRIEF.multipliedBy(2).toNanos());
    }

    private static Optional<Grant> releaseAndClaim(RedisStore store, Grant grant) {
        CompletableFuture<CompletionStage<Optional<Grant>>> claimed = new CompletableFuture<>();
        store.beforeSending("a", () -> {
            store.release(grant);
            claimed.complete(Asked.of(store, Rig.claim("a")).answer());
        });
        return Rig.get(claimed.thenCompose(answer -> answer));
    }
}
