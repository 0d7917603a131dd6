package dev.holdfast.spi;

import java.util.List;
import java.util.Set;

/**
 * What a store can and cannot do. The engine asks before it relies on anything; a user reads it to know what is
 * promised. Asking for what a store lacks fails when the lock is built.
 *
 * <pre>{@code
 * client.capabilities().caveats().forEach(System.out::println);
 * boolean hasSemaphores = client.capabilities().modes().contains(Mode.Kind.PERMITS);
 * }</pre>
 *
 * @param modes the modes it grants
 * @param maxNames how many names one claim may hold, at least 1
 * @param sessionBound whether grants end with a session rather than with a lease of their own
 * @param pushes whether a waiting claim is woken by the store; otherwise the store polls
 * @param fair whether waiting clients are served in the order of their arrival
 * @param ordered whether requests of one client for one name take effect in the order they were made, so that a claim
 *     need not await the answer of the release before it. The order may end with a connection: a renewal without an
 *     answer may still be carried out late
 * @param extendable whether {@link Store#extend} can give a grant a fresh number
 * @param tokens how far tokens can be trusted to rise
 * @param caveats what else a user must know, one sentence each
 */
public record Capabilities(
        Set<Mode.Kind> modes,
        int maxNames,
        boolean sessionBound,
        boolean pushes,
        boolean fair,
        boolean ordered,
        boolean extendable,
        Tokens tokens,
        List<String> caveats) {
    public Capabilities {
        modes = Set.copyOf(modes);
        caveats = List.copyOf(caveats);
        if (modes.isEmpty() || maxNames < 1) {
            throw new IllegalArgumentException("a store grants at least one mode and one name");
        }
    }

    /** How far tokens can be trusted to rise over the life of a store. */
    public enum Tokens {
        /** Always. */
        ALWAYS,
        /** Always, but over a restart or failover that lost state only as far as the servers' clocks agree. */
        AS_CLOCKS_AGREE
    }
}
