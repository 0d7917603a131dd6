package dev.holdfast.spring;

import dev.holdfast.Term;

/**
 * The event that this application leads no longer. If it resigns, which it does at its end, another application leads
 * only after the listeners have returned.
 *
 * <pre>{@code
 * @EventListener
 * void stop(LeaderRevoked revoked) {
 *     outbox.stop();
 * }
 * }</pre>
 *
 * @param election the name of the election
 * @param term the one that has ended
 */
public record LeaderRevoked(String election, Term term) {}
