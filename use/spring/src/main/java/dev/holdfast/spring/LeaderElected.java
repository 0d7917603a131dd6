package dev.holdfast.spring;

import dev.holdfast.Term;

/**
 * The event that this application leads now. It is published on a thread of the candidacy, and listeners run there one
 * after another; a listener that throws ends the term.
 *
 * <pre>{@code
 * @EventListener
 * void start(LeaderElected elected) {
 *     outbox.start(elected.term().token());
 * }
 * }</pre>
 *
 * @param election the name of the election
 * @param term what this application leads under
 */
public record LeaderElected(String election, Term term) {}
