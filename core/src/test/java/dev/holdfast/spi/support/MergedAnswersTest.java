package dev.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.support.PagedListing.Page;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Several answers put together are an answer in any case, also when memory ends meanwhile. */
@Timeout(20)
class MergedAnswersTest {
    private final Grant one = grant();
    private final Grant two = grant();

    private static Grant grant() {
        return new Grant(ClaimId.random(), "a", Mode.EXCLUSIVE, Duration.ofSeconds(30), 1L, 7L);
    }

    private CompletableFuture<Map<ClaimId, Renewal>> renewed(
            CompletableFuture<Map<ClaimId, Renewal>> first, CompletableFuture<Map<ClaimId, Renewal>> second) {
        return RenewalChunks.renew(List.of(one, two), 1, part -> part.get(0) == one ? first : second);
    }

    @Test
    void aRenewalWhoseRequestFailedIsUnknownBesideOthers() {
        assertThat(renewed(
                                CompletableFuture.failedFuture(new StoreUnavailableException("away")),
                                CompletableFuture.completedFuture(Map.of(two.id(), Renewal.held(8L, false))))
                        .join())
                .containsEntry(one.id(), Renewal.unknown(7L))
                .containsEntry(two.id(), Renewal.held(8L, false));
    }

    @Test
    void ifAllRequestsFailedTheRenewalFailsAsTheFirstDid() {
        assertThatThrownBy(renewed(
                        CompletableFuture.failedFuture(new StoreUnavailableException("away")),
                        CompletableFuture.failedFuture(new StoreUnavailableException("too")))::get)
                .hasCause(new StoreUnavailableException("away"));
    }

    @Test
    void anErrorWhileRenewalsAreMergedIsTheAnswer() {
        Map<ClaimId, Renewal> unreadable = new HashMap<>() {
            @Override
            public int size() {
                throw new OutOfMemoryError("of this test");
            }
        };

        assertThatThrownBy(
                        renewed(
                                CompletableFuture.completedFuture(Map.of()),
                                CompletableFuture.completedFuture(unreadable))::get)
                .hasCauseInstanceOf(OutOfMemoryError.class);
    }

    @Test
    void anErrorWhileAListIsSortedIsTheAnswer() {
        assertThatThrownBy(PagedListing.<String>all(
                                after -> CompletableFuture.completedFuture(new Page<>(List.of("b", "a"), "")), name -> {
                                    throw new OutOfMemoryError("of this test");
                                })
                        .toCompletableFuture()::get)
                .hasCauseInstanceOf(OutOfMemoryError.class);
    }

    @Test
    void anErrorAtALaterPageIsTheAnswer() {
        assertThatThrownBy(PagedListing.<String>all(
                                after -> {
                                    if (after.isEmpty()) {
                                        return CompletableFuture.completedFuture(new Page<>(List.of("a"), "a"));
                                    }
                                    throw new OutOfMemoryError("of this test");
                                },
                                name -> name)
                        .toCompletableFuture()::get)
                .hasCauseInstanceOf(OutOfMemoryError.class);
    }
}
