package dev.holdfast;

import dev.holdfast.spi.Store;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The abilities of a store and their limits. The engine checks them before it relies on anything; a user reads them to
 * learn what is promised. A request for what a store lacks fails when the lock is built.
 *
 * <pre>{@code
 * client.capabilities().caveats().forEach(System.out::println);
 * boolean hasSemaphores = client.capabilities().modes().contains(LockMode.PERMITS);
 * }</pre>
 *
 * <p>A store begins with {@link #least()} and states what it can do beyond that. Immutable; each method with an
 * argument returns a changed copy.
 */
public final class Capabilities {
    private static final Capabilities LEAST = new Capabilities(new Values());

    private final Values values;

    private Capabilities(Values values) {
        this.values = values;
    }

    /** Claims of one name in every mode, by leases, and nothing beyond that. */
    public static Capabilities least() {
        return LEAST;
    }

    /** The modes it grants; all unless it says otherwise. */
    public Set<LockMode> modes() {
        return values.modes;
    }

    /**
     * With these {@link #modes() modes} alone.
     *
     * @throws IllegalArgumentException if there are none
     */
    public Capabilities modes(Set<LockMode> value) {
        if (value.isEmpty()) {
            throw new IllegalArgumentException("a store grants at least one mode");
        }
        return with(changed -> changed.modes = Set.copyOf(value));
    }

    /** Whether grants end with a session rather than with a lease of their own. */
    public boolean sessionBound() {
        return values.sessionBound;
    }

    /** With grants that are {@link #sessionBound() bound to a session}, or not. */
    public Capabilities sessionBound(boolean value) {
        return with(changed -> changed.sessionBound = value);
    }

    /** Whether the server notifies a waiting claim; otherwise the client polls. */
    public boolean pushes() {
        return values.pushes;
    }

    /** With claims that are {@link #pushes() woken}, or not. */
    public Capabilities pushes(boolean value) {
        return with(changed -> changed.pushes = value);
    }

    /** Whether waiting clients are served in the order of their arrival. */
    public boolean fair() {
        return values.fair;
    }

    /** With clients {@link #fair() served in order}, or not. */
    public Capabilities fair(boolean value) {
        return with(changed -> changed.fair = value);
    }

    /**
     * Whether requests of one client for one name take effect in the order they were made, so that a claim need not await
     * the answer of the release before it. The order may end with a connection: a renewal without an answer may still be
     * carried out late.
     */
    public boolean ordered() {
        return values.ordered;
    }

    /** With requests {@link #ordered() in order}, or not. */
    public Capabilities ordered(boolean value) {
        return with(changed -> changed.ordered = value);
    }

    /** Whether {@link Store#extend} can give a grant a fresh number. */
    public boolean extendable() {
        return values.extendable;
    }

    /** With grants that can get {@link #extendable() a fresh number}, or not. */
    public Capabilities extendable(boolean value) {
        return with(changed -> changed.extendable = value);
    }

    /**
     * Whether it {@linkplain Store#watch reports} when another client waits for an exclusive lock that this one holds, which
     * {@link Hold#onWanted} and {@link HoldOptions#retain} need. Redis and ZooKeeper report it by a message. On SQL stores,
     * the client sends a query every 20 ms while it watches any lock. If a message is lost, the next renewal reports it.
     */
    public boolean wanted() {
        return values.wanted;
    }

    /** With reports that a lock is {@link #wanted() wanted}, or without. */
    public Capabilities wanted(boolean value) {
        return with(changed -> changed.wanted = value);
    }

    /**
     * Whether it knows how many claims wait. Otherwise {@link LockStatus#waiting()} is always 0, a lock that is only waited
     * for is not listed, and renewals never report that others wait.
     */
    public boolean countsWaiters() {
        return values.countsWaiters;
    }

    /** With claims that are {@link #countsWaiters() counted while they wait}, as it is unless a store says otherwise. */
    public Capabilities countsWaiters(boolean value) {
        return with(changed -> changed.countsWaiters = value);
    }

    /** Whether it keeps {@linkplain Store#readRecord records}, which {@link LockClient#once} needs. */
    public boolean records() {
        return values.records;
    }

    /** With {@link #records() records}, or without. */
    public Capabilities records(boolean value) {
        return with(changed -> changed.records = value);
    }

    /** How far tokens can be trusted to rise; {@link Tokens#ALWAYS} unless it says otherwise. */
    public Tokens tokens() {
        return values.tokens;
    }

    /** With tokens to be trusted {@link #tokens() so far}. */
    public Capabilities tokens(Tokens value) {
        return with(changed -> changed.tokens = value);
    }

    /** Other facts that a user must know, one sentence each. */
    public List<String> caveats() {
        return values.caveats;
    }

    /** With these {@link #caveats() caveats} alone. */
    public Capabilities caveats(List<String> value) {
        return with(changed -> changed.caveats = List.copyOf(value));
    }

    /** With these {@link #caveats() caveats} alone. */
    public Capabilities caveats(String... value) {
        return caveats(Arrays.asList(value));
    }

    @Override
    public String toString() {
        return "Capabilities[modes=" + values.modes
                + ", sessionBound=" + values.sessionBound
                + ", pushes=" + values.pushes
                + ", fair=" + values.fair
                + ", ordered=" + values.ordered
                + ", extendable=" + values.extendable
                + ", wanted=" + values.wanted
                + ", countsWaiters=" + values.countsWaiters
                + ", records=" + values.records
                + ", tokens=" + values.tokens
                + ", caveats=" + values.caveats + "]";
    }

    private Capabilities with(Consumer<Values> change) {
        Values changed = new Values(values);
        change.accept(changed);
        return new Capabilities(changed);
    }

    /** How far tokens can be trusted to rise over the life of a store. */
    public enum Tokens {
        /** Always. */
        ALWAYS,
        /** Always, but over a restart or failover that lost state only as far as the servers' clocks agree. */
        AS_CLOCKS_AGREE
    }

    /** All of it; changed only while it is copied, before any other code sees it. */
    private static final class Values {
        Set<LockMode> modes = Set.copyOf(EnumSet.allOf(LockMode.class));
        boolean sessionBound;
        boolean pushes;
        boolean fair;
        boolean ordered;
        boolean extendable;
        boolean wanted;
        boolean countsWaiters = true;
        boolean records;
        Tokens tokens = Tokens.ALWAYS;
        List<String> caveats = List.of();

        Values() {}

        Values(Values other) {
            modes = other.modes;
            sessionBound = other.sessionBound;
            pushes = other.pushes;
            fair = other.fair;
            ordered = other.ordered;
            extendable = other.extendable;
            wanted = other.wanted;
            countsWaiters = other.countsWaiters;
            records = other.records;
            tokens = other.tokens;
            caveats = other.caveats;
        }
    }
}
