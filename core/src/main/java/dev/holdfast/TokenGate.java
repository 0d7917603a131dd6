package dev.holdfast;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A fence in memory: admits work whose token is at least as high as every token seen before. It shows the rule a
 * resource must keep for a fencing token to protect it (Kleppmann, "How to do distributed locking", 2016), and guards
 * resources that live in one process.
 *
 * <pre>{@code
 * TokenGate gate = new TokenGate("ledger");
 * try (Hold hold = lock.acquire()) {
 *     gate.check(hold.token());
 *     ledger.append(entry);
 * }
 * }</pre>
 *
 * <p>For exclusive holds only. Thread-safe: tokens are admitted atomically; whether the work that follows is atomic with
 * the check is up to the caller.
 */
public final class TokenGate {
    private final String resource;
    private final AtomicLong highest = new AtomicLong(Long.MIN_VALUE);

    /**
     * A gate that has seen no token.
     *
     * @param resource what is guarded, for the message
     */
    public TokenGate(String resource) {
        this.resource = resource;
    }

    /**
     * Admits a token.
     *
     * @param token of the hold under which the work is done
     * @throws StaleTokenException if a higher one was admitted before
     */
    public void check(long token) {
        long admitted = highest.accumulateAndGet(token, Math::max);
        if (admitted > token) {
            throw new StaleTokenException(resource, token, admitted);
        }
    }
}
