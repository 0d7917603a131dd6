package dev.holdfast.tck.fuzz;

import dev.holdfast.spi.Mode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** What requests do to a lock: the rules of the store, and nothing about what anybody knows. */
final class Effects {
    /** Below the label of what was broken last, the label of what was broken before. */
    private static final int BROKEN_EARLIER = 1_000_000;

    private final Map<Integer, Call> open;
    private final Set<Integer> finished = new HashSet<>();
    private final boolean extendable;
    private final boolean downgradable;
    private final boolean byPlace;
    private final long lingers;
    private final boolean repeatsShorten;

    /** Of requests that are open; for the rest see {@link NameModel#NameModel}. */
    Effects(Map<Integer, Call> open, boolean extendable, boolean downgradable, long lingers, boolean repeatsShorten) {
        this.open = open;
        this.extendable = extendable;
        this.downgradable = downgradable;
        this.byPlace = lingers > 0;
        this.lingers = lingers;
        this.repeatsShorten = repeatsShorten;
    }

    /** A claim that was given up, and may be refused when it is repeated. */
    void finished(int claim) {
        finished.add(claim);
    }

    boolean isFinished(int claim) {
        return finished.contains(claim);
    }

    boolean isOffer(Held held) {
        Call by = open.get(held.by());
        return by != null && (by.kind == Call.Kind.WAIT || by.ghost);
    }

    /** Whether others may be before a request; in a line of places, a claim that does not wait is, until it has left. */
    boolean isWaitedFor(State state, Call asking) {
        return open.values().stream()
                .anyMatch(call -> call.id != asking.id
                        && (call.kind == Call.Kind.WAIT || (byPlace && call.kind == Call.Kind.CLAIM))
                        && call.until >= asking.sent
                        && (!state.done().containsKey(call.id) || (byPlace && isRefused(state, call))));
    }

    /** Whether a release or a withdrawal of a claim is under way. */
    private boolean isGivenUp(int claim) {
        return open.values().stream()
                .anyMatch(call ->
                        call.claim == claim && (call.kind == Call.Kind.RELEASE || call.kind == Call.Kind.WITHDRAW));
    }

    /** It was refused, but its place may still be there: it leaves before it answers. */
    private static boolean isRefused(State state, Call call) {
        return call.kind == Call.Kind.CLAIM && Boolean.FALSE.equals(state.done().get(call.id));
    }

    static State done(State state, Call call, boolean yes) {
        Map<Integer, Boolean> done = new HashMap<>(state.done());
        done.put(call.id, yes);
        return new State(state.held(), Map.copyOf(done));
    }

    /** The states in which a request may leave a lock, when it comes to that outcome; none if it cannot. */
    List<State> outcomes(State state, Call call, boolean yes) {
        Optional<Held> mine = state.of(call.claim);
        Optional<Held> broken = state.of(-call.claim - 1);
        long to = call.end(call.until);
        long from = call.from();
        switch (call.kind) {
            case CLAIM, WAIT -> {
                return claimed(state, call, yes, mine, broken, from, to);
            }
            case RENEW, EXTEND -> {
                if (yes) {
                    // Fresh, but not shorter than it was: nobody relies on that.
                    boolean longer = call.kind == Call.Kind.EXTEND;
                    return mine
                            .map(held -> state.plus(
                                    new Held(call.claim, held.mode(), from, to, call.id, longer ? held.to() : 0)))
                            .stream()
                            .toList();
                }
                boolean renews = call.kind == Call.Kind.RENEW; // that an extension is refused says nothing
                if (renews && byPlace && mine.isPresent() && mine.get().from() != Call.NEVER) {
                    // Its client gave its session up; its node goes when the server does so too.
                    Held gone = mine.get();
                    return List.of(state.without(gone)
                            .plus(new Held(-gone.claim() - 1, gone.mode(), call.sent, call.sent + 2 * lingers, -1, 0)));
                }
                boolean refused = call.kind == Call.Kind.EXTEND
                        && (!extendable
                                || isWaitedFor(state, call)
                                || mine.stream().anyMatch(held -> held.mode() != Mode.EXCLUSIVE));
                boolean renumbered = renews && call.mayMiss; // a renewal of the number that it had before
                boolean letGo = renews && byPlace && isGivenUp(call.claim); // its node goes a moment later
                return mine.isEmpty() || refused || renumbered || letGo ? List.of(state) : List.of();
            }
            case DOWNGRADE -> {
                boolean reader = mine.isPresent() && !(mine.get().mode() instanceof Mode.Permits);
                return yes
                        ? mine
                                .filter(held -> reader && downgradable)
                                .map(held -> state.plus(new Held(
                                        held.claim(), Mode.SHARED, held.from(), held.to(), held.by(), held.least())))
                                .stream()
                                .toList()
                        : !reader || !downgradable ? List.of(state) : List.of();
            }
            case RELEASE -> {
                if (yes && call.twice && mine.isEmpty() && broken.isPresent()) {
                    // The second copy is believed to have found what the first had done; a broken reader may stay.
                    return List.of(state, state.without(broken.get()));
                }
                if (yes) {
                    return mine
                            .or(() -> broken)
                            .map(state::without)
                            .or(() -> call.twice ? Optional.of(state) : Optional.empty())
                            .stream()
                            .toList();
                }
                if (call.twice && byPlace && mine.isPresent()) {
                    return List.of(state.without(mine.get())); // its session was in doubt: to say no is no lie
                }
                return mine.isPresent()
                        ? List.of()
                        : broken.isPresent() ? List.of(state, state.without(broken.get())) : List.of(state);
            }
            case WITHDRAW -> {
                if (!yes) {
                    return List.of();
                }
                State gone = mine.map(state::without).orElse(state);
                return broken.isPresent() ? List.of(gone, gone.without(broken.get())) : List.of(gone);
            }
            case REVOKE, BREAK -> {
                return broken(state, call, yes, mine, broken);
            }
            default -> {
                throw new AssertionError(call.kind);
            }
        }
    }

    /** The grant of one claim is broken, and no other. */
    private List<State> broken(State state, Call call, boolean yes, Optional<Held> mine, Optional<Held> broken) {
        if (!yes && byPlace && call.twice && mine.isPresent()) {
            return List.of(state.without(mine.get()).plus(mine.get().broken(call.sent)), state.without(mine.get()));
        }
        if (!yes) {
            return mine.isEmpty() || call.mayMiss || isOffer(mine.get()) ? List.of(state) : List.of();
        }
        if (call.kind == Call.Kind.REVOKE && mine.isPresent() && broken.isPresent()) {
            // It was broken before, and claimed again since: what it had before may keep others out beside what it has.
            Held old = broken.get();
            Held earlier =
                    new Held(old.claim() - BROKEN_EARLIER, old.mode(), old.from(), old.to(), old.by(), old.least());
            State again = state.without(mine.get()).plus(mine.get().broken(call.sent));
            return List.of(again, again.plus(earlier));
        }
        return mine
                .or(() -> broken)
                .map(held -> call.kind == Call.Kind.BREAK
                        ? state.without(held)
                        : state.without(held).plus(held.broken(call.sent)))
                .stream()
                .toList();
    }

    /** A holder that is no more; if it was offered the lock it waits again, unless it had just taken the offer. */
    List<State> passedOn(State state, Held gone) {
        State ended = state.without(gone);
        if (!isOffer(gone)) {
            return List.of(ended);
        }
        Map<Integer, Boolean> done = new HashMap<>(ended.done());
        done.remove(gone.by());
        return List.of(ended, new State(ended.held(), Map.copyOf(done)));
    }

    private List<State> claimed(
            State state, Call call, boolean yes, Optional<Held> mine, Optional<Held> broken, long from, long to) {
        boolean stands = mine.isPresent() && !isOffer(mine.get());
        if (yes) {
            if (stands) {
                Held held = mine.get();
                boolean shortens = repeatsShorten && held.mode() == Mode.EXCLUSIVE;
                long kept = shortens ? from : Math.max(held.from(), from);
                return List.of(state.plus(new Held(call.claim, held.mode(), kept, to, call.id, held.to())));
            }
            boolean mayGoAgain = call.kind == Call.Kind.WAIT || call.ghost;
            boolean mayOverlook = byPlace && call.mode instanceof Mode.Permits;
            int most = mayOverlook ? ((Mode.Permits) call.mode).of() : Integer.MAX_VALUE;
            if (mine.isPresent() || !state.fits(call.mode, most)) {
                return List.of();
            }
            State grown = state.plus(new Held(call.claim, call.mode, mayGoAgain ? 0 : from, to, call.id, 0));
            // What it had before it was broken may end with its new grant: its client is one holder.
            return broken.map(old -> List.of(grown, grown.without(old))).orElse(List.of(grown));
        }
        if (call.kind == Call.Kind.WAIT) {
            return call.cancelled && mine.isEmpty() ? List.of(state) : List.of();
        }
        if (byPlace && stands && mine.get().from() <= call.sent) {
            // Its session ended while the servers were away. They still have its node, which is before the new one.
            Held gone = mine.get();
            return List.of(state.without(gone)
                    .plus(new Held(-gone.claim() - 1, gone.mode(), call.sent, call.sent + 2 * lingers, -1, 0)));
        }
        boolean busy = !state.fits(call.mode, Integer.MAX_VALUE)
                || isWaitedFor(state, call)
                || finished.contains(call.claim)
                || state.held().stream().anyMatch(Held::isBroken);
        if (stands || !busy) {
            return List.of();
        }
        // What had no answer is withdrawn later, and with it what was broken of its claim: its client relies on
        // neither.
        return call.isLost() && broken.isPresent() ? List.of(state, state.without(broken.get())) : List.of(state);
    }
}
