package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.HoldfastException;
import dev.holdfast.spi.ClaimId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests in line, taken by a thread at the end of its stack. */
class RequestQueueTest {
    private static final int STACK = 256 * 1024;
    private static final int FRAMES = 100;
    private static final String NAME = "order:42";

    private boolean failed;
    private boolean exchanged;

    /** What is compiled needs less of a stack: so it ends where a release is about to take the claim along. */
    @BeforeEach
    void requestsHaveBeenTakenOften() throws InterruptedException {
        RequestQueue queue = new RequestQueue("a store");
        for (int i = 0; i < 30_000; i++) {
            queue.add(new Request.Asked<>("look at", "", table -> true));
            assertThat(queue.next(0)).isNotNull();
        }
        takeWhereFramesAreLeft(FRAMES); // loads and links the rest
    }

    @Test
    void aReleaseAndTheClaimBehindItAreNotLostHoweverFewFramesAreLeftToTakeThem() throws InterruptedException {
        for (int left = 0; left <= FRAMES; left++) {
            takeWhereFramesAreLeft(left);
        }
        assertThat(failed).isTrue();
        assertThat(exchanged).isTrue();
    }

    private void takeWhereFramesAreLeft(int left) throws InterruptedException {
        RequestQueue queue = new RequestQueue("a store");
        Request release = new Request.Release(NAME, ClaimId.random(), "a store");
        Request claim = claim();
        queue.add(new Request.Asked<>("look at", "", table -> true));
        queue.add(release);
        queue.add(claim);
        assertThat(queue.next(0))
                .as("the first, with which the others are noticed")
                .isInstanceOf(Request.Asked.class);
        @Nullable Request[] taken = new Request[1];

        atEndOfStack(left, () -> {
            try {
                taken[0] = queue.next(0);
            } catch (StackOverflowError end) {
                failed = true;
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });

        List<Request> inLine = new ArrayList<>();
        queue.drain(inLine::add);
        if (taken[0] instanceof Request.Exchange) {
            assertThat(inLine).isEmpty();
            exchanged = true;
        } else if (taken[0] != null) {
            assertThat(taken[0]).isSameAs(release);
            assertThat(inLine).as("with %d frames left", left).containsExactly(claim);
        } else {
            assertThat(inLine).as("with %d frames left", left).containsExactly(release, claim);
        }
    }

    private static Request claim() {
        return new Request.Claiming(Requests.claim(NAME)) {
            @Override
            boolean run(LockRows table, @Nullable String released) {
                return true;
            }

            @Override
            void fail(HoldfastException failure) {}
        };
    }

    private static void atEndOfStack(int left, Runnable what) throws InterruptedException {
        Thread thread = new Thread(null, () -> down(left, what), "deep", STACK);
        thread.start();
        thread.join();
    }

    /** Goes down to the end of the stack, and runs it on the way back. */
    @SuppressWarnings("InfiniteRecursion")
    private static int down(int left, Runnable what) {
        int below;
        try {
            below = down(left, what) + 1;
        } catch (StackOverflowError end) {
            below = 0;
        }
        if (below == left) {
            try {
                what.run();
            } catch (StackOverflowError end) {
                // it has not even begun
            }
        }
        return below;
    }
}
