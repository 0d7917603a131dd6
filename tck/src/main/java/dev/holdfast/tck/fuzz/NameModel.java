package dev.holdfast.tck.fuzz;

import dev.holdfast.LockStatus;
import dev.holdfast.spi.Mode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * What a lock may look like in the store, as far as its clients can know: the set of all states that explain the answers
 * so far.
 *
 * <pre>
 *   request sent      it is open: it takes effect at some moment from now on
 *   answer            only states remain in which it has taken effect, with that outcome; none remains: a violation
 *   answer lost       it stays open for a while: it took effect, or will, or never
 *   lease over        between its earliest and its latest end a holder may be there or not
 *   waiting claim     may hold the lock for a while before it is told, and may lose it again: an offer
 * </pre>
 *
 * <p>All orders of open requests are gone through. Times are {@link System#nanoTime()}. For one thread.
 */
final class NameModel {
    static final long NEVER = Long.MAX_VALUE;
    private static final int MOST_STATES = 50_000;

    /** What a request does to a lock. */
    enum Kind {
        CLAIM,
        WAIT,
        RENEW,
        EXTEND,
        DOWNGRADE,
        RELEASE,
        WITHDRAW,
        REVOKE,
        BREAK
    }

    /** A request under way, or one that may still be. */
    static final class Call {
        final int id;
        final int name;
        final Kind kind;
        final int claim;
        final Mode mode;
        /** From its sending to the earliest end of the lease that it begins. */
        final long lease;
        /** Whether that lease goes on by itself, with a session. */
        final boolean endless;

        final long sent;
        /** When it was lost: after this it has no effect any more. */
        long until = NEVER;

        boolean cancelled;
        /** Somebody broke the lock meanwhile: the grant may be gone before its answer is here. */
        boolean disturbed;
        /** A break by a number that the grant may have changed meanwhile. */
        boolean mayMiss;
        /** A second copy of a request that was answered: it takes the lock for nobody. */
        boolean ghost;

        Call(int id, int name, Kind kind, int claim, Mode mode, long lease, boolean endless, long sent) {
            this.id = id;
            this.name = name;
            this.kind = kind;
            this.claim = claim;
            this.mode = mode;
            this.lease = lease;
            this.endless = endless;
            this.sent = sent;
        }

        /** When the lease is over at the latest, if it begins no later than that. */
        long end(long begun) {
            return endless || begun == NEVER ? NEVER : begun + lease;
        }

        /** When the lease is over at the earliest. */
        long from() {
            return lease == NEVER ? NEVER : sent + lease;
        }

        boolean mayRenumber() {
            return kind == Kind.CLAIM || kind == Kind.WAIT || kind == Kind.EXTEND;
        }

        boolean isLost() {
            return until != NEVER;
        }

        @Override
        public String toString() {
            return kind + " #" + claim + (isLost() ? " (lost)" : "");
        }
    }

    /**
     * A holder.
     *
     * @param claim its label; negative when it was revoked, and keeps others out until its lease is over
     * @param from its lease does not end before
     * @param to it has surely ended after
     * @param by the unanswered request that its end depends on, or -1
     * @param least {@code to} is not before, whatever that answer
     */
    record Held(int claim, Mode mode, long from, long to, int by, long least) {
        boolean isBroken() {
            return claim < 0;
        }

        /** One whose session would never end keeps others out for a session's time only. */
        Held broken(long now) {
            return isBroken() ? this : new Held(-claim - 1, mode, from == NEVER ? now : from, to, by, least);
        }
    }

    /** Who holds it, and which open requests have taken effect, with what outcome. */
    record State(Set<Held> held, Map<Integer, Boolean> done) {
        Optional<Held> of(int claim) {
            return held.stream().filter(each -> each.claim == claim).findFirst();
        }

        State with(Set<Held> fresh) {
            return new State(fresh, done);
        }

        State without(Held gone) {
            return with(held.stream().filter(each -> !each.equals(gone)).collect(Collectors.toSet()));
        }

        State plus(Held more) {
            Set<Held> all = new HashSet<>(held);
            all.removeIf(each -> each.claim == more.claim);
            all.add(more);
            return with(all);
        }

        State map(UnaryOperator<Held> change) {
            return with(held.stream().map(change).collect(Collectors.toSet()));
        }

        /** Whether somebody is in it whose lease was surely over by then. */
        boolean isOver(long by) {
            return held.stream().anyMatch(each -> each.to < by);
        }

        /** Whether there is room, counting only holders that think of so many permits, at most. */
        boolean fits(Mode mode, int most) {
            if (mode instanceof Mode.Permits wanted) {
                int out = 0;
                for (Held each : held) {
                    if (!(each.mode instanceof Mode.Permits some)) {
                        return false;
                    }
                    out += some.of() <= most ? some.permits() : 0;
                }
                return out + wanted.permits() <= wanted.of();
            }
            return held.isEmpty() || (mode == Mode.SHARED && held.stream().allMatch(each -> each.mode == Mode.SHARED));
        }
    }

    final Map<Integer, Call> open = new LinkedHashMap<>();
    private final Set<Look> looks = new LinkedHashSet<>();
    private final boolean extendable;
    private final boolean downgradable;
    private final boolean byPlace;
    private final Set<Integer> finished = new HashSet<>();
    private Set<State> states = Set.of(new State(Set.of(), Map.of()));

    /**
     * A model of a free lock.
     *
     * @param extendable whether grants can be given a fresh number
     * @param downgradable whether a writer can become a reader
     * @param byPlace whether a claim counts only the permits of those before it in line: one behind it, who thinks of
     *     more permits, may hold some
     */
    NameModel(boolean extendable, boolean downgradable, boolean byPlace) {
        this.byPlace = byPlace;
        this.extendable = extendable;
        this.downgradable = downgradable;
    }

    int size() {
        return states.size();
    }

    void sent(Call call) {
        open.put(call.id, call);
        if (call.kind == Kind.WAIT) {
            looks.forEach(look -> look.waiting++);
        }
        if (call.kind == Kind.RELEASE || call.kind == Kind.WITHDRAW) {
            finished.add(call.claim);
        }
        if (call.kind == Kind.REVOKE || call.kind == Kind.BREAK) {
            open.values().forEach(each -> each.disturbed = true);
        }
        List<Call> ofClaim =
                open.values().stream().filter(each -> each.claim == call.claim).toList();
        if (ofClaim.stream().anyMatch(Call::mayRenumber)) {
            ofClaim.forEach(each -> each.mayMiss = true);
        }
    }

    /** An answer came: {@code from} is when a lease that it began ends at the earliest. */
    void answered(Call call, boolean yes, long now, long from, String what) {
        Set<State> possible = explore(call.sent, now);
        open.remove(call.id);
        long to = call.end(now);
        boolean gone = call.kind != Kind.WAIT || !yes || call.disturbed || from <= now;
        // A claim that was carried out, and broken before its store looked what came of it, may be told that it failed.
        boolean broken = call.kind == Kind.CLAIM && !yes && call.disturbed;
        Predicate<State> right = state -> state.done.getOrDefault(call.id, !yes)
                        == (yes || broken && state.of(-call.claim - 1).isPresent())
                && (gone || state.of(call.claim).isPresent());
        narrow(what, possible, right, state -> {
            Map<Integer, Boolean> done = new HashMap<>(state.done);
            done.remove(call.id);
            return new State(
                    state.map(each -> each.by != call.id
                                    ? each
                                    : new Held(each.claim, each.mode, from, Math.max(each.least, to), -1, 0))
                            .held,
                    Map.copyOf(done));
        });
    }

    /** No answer came, or none that says anything. */
    void lost(Call call, long until) {
        call.until = until;
        states = changed(state -> state.map(each -> each.by == call.id && each.to == NEVER
                ? new Held(each.claim, each.mode, each.from, call.end(until), each.by, 0)
                : each));
    }

    /** A look at the lock that is under way, and what it may have seen so far. */
    static final class Look {
        private final long sent = System.nanoTime();
        private final Set<State> seen = new HashSet<>();
        /** How many claims it may have found waiting, at most. */
        private long waiting;
    }

    Look look() {
        Look look = new Look();
        look.waiting = open.values().stream()
                .filter(call -> call.kind == Kind.WAIT && call.until >= look.sent)
                .count();
        looks.add(look);
        return look;
    }

    /** What was seen must be true of some state since the look began. */
    void seen(Look look, long now, Predicate<State> right, String what) {
        Set<State> possible = explore(look.sent, now);
        looks.remove(look);
        if (look.seen.stream().noneMatch(right)) {
            narrow(what, possible, right, UnaryOperator.identity());
        }
    }

    /** The holders of a client whose session ended, or will within that time. */
    void sessionEnds(Predicate<Integer> claims, long now, long latest) {
        states = changed(state -> state.map(each -> claims.test(each.claim)
                ? new Held(each.claim, each.mode, Math.min(each.from, now), latest, -1, 0)
                : each));
    }

    /** When everybody who may hold it has surely lost it, but for those that are known. */
    long latestEnd(Predicate<Integer> except) {
        return states.stream()
                .flatMap(state -> state.held.stream())
                .filter(each -> each.to != NEVER && !except.test(each.claim))
                .mapToLong(Held::to)
                .max()
                .orElse(0);
    }

    boolean isWaitedFor(State state, long sent) {
        return open.values().stream()
                .anyMatch(call -> call.kind == Kind.WAIT && call.until >= sent && !state.done.containsKey(call.id));
    }

    /** Whether a status is what somebody who looks into this state may see. */
    boolean shows(State state, LockStatus status, Predicate<Held> told, Look look) {
        List<Held> sure = state.held.stream()
                .filter(each -> !each.isBroken() && !isOffer(each))
                .toList();
        boolean holders = status.grant().isPresent()
                ? sure.stream().anyMatch(told) || sure.size() < state.held.size()
                : sure.isEmpty();
        return holders && status.waiting() <= look.waiting;
    }

    private boolean isOffer(Held held) {
        Call by = open.get(held.by);
        return by != null && (by.kind == Kind.WAIT || by.ghost);
    }

    private Set<State> changed(UnaryOperator<State> change) {
        return states.stream().map(change).collect(Collectors.toSet());
    }

    private void narrow(String what, Set<State> possible, Predicate<State> right, UnaryOperator<State> then) {
        Set<State> left =
                possible.stream().filter(right).map(then).collect(Collectors.toCollection(LinkedHashSet::new));
        if (left.isEmpty()) {
            throw new Violation("impossible answer: " + what + "\n  possible states before: "
                    + states.stream().limit(4).map(NameModel::shown).toList() + "\n  requests open: " + open.values());
        }
        states = left;
    }

    private static String shown(State state) {
        long now = System.nanoTime();
        return state.held.stream()
                .map(each -> "#" + each.claim + " " + each.mode + " ends in "
                        + (each.from == NEVER ? "never" : (each.from - now) / 1_000_000) + ".."
                        + (each.to == NEVER ? "?" : (each.to - now) / 1_000_000) + " ms")
                .toList()
                .toString();
    }

    /** All states that may be there at some moment between the two. */
    private Set<State> explore(long sent, long now) {
        open.values().removeIf(call -> call.until < sent);
        Set<State> all = new LinkedHashSet<>(changed(this::forgetting));
        Deque<State> fresh = new ArrayDeque<>(all);
        while (!fresh.isEmpty()) {
            for (State next : nexts(fresh.poll(), now)) {
                if (all.add(next)) {
                    fresh.add(next);
                }
            }
            if (all.size() > MOST_STATES) {
                throw new TooWide();
            }
        }
        for (Look look : looks) {
            all.stream().filter(state -> !state.isOver(look.sent)).forEach(look.seen::add);
        }
        all.removeIf(state -> state.isOver(sent));
        return all;
    }

    private State forgetting(State state) {
        if (open.keySet().containsAll(state.done.keySet())) {
            return state;
        }
        Map<Integer, Boolean> done = new HashMap<>(state.done);
        done.keySet().retainAll(open.keySet());
        return new State(state.held, Map.copyOf(done));
    }

    private List<State> nexts(State state, long now) {
        List<State> all = new ArrayList<>();
        for (Held each : state.held) {
            if (each.from <= now || isOffer(each)) {
                all.addAll(passedOn(state, each));
            }
        }
        for (Call call : open.values()) {
            if (!state.done.containsKey(call.id) && state.held.stream().noneMatch(each -> each.to < call.sent)) {
                for (State next : outcomes(state, call, true)) {
                    all.add(done(next, call, true));
                }
                for (State next : outcomes(state, call, false)) {
                    all.add(done(next, call, false));
                }
            }
        }
        return all;
    }

    private static State done(State state, Call call, boolean yes) {
        Map<Integer, Boolean> done = new HashMap<>(state.done);
        done.put(call.id, yes);
        return new State(state.held, Map.copyOf(done));
    }

    /** The states in which a request may leave a lock, when it comes to that outcome; none if it cannot. */
    private List<State> outcomes(State state, Call call, boolean yes) {
        Optional<Held> mine = state.of(call.claim);
        Optional<Held> broken = state.of(-call.claim - 1);
        long to = call.end(call.until);
        long from = call.from();
        switch (call.kind) {
            case CLAIM, WAIT -> {
                return claimed(state, call, yes, mine, from, to);
            }
            case RENEW, EXTEND -> {
                if (yes) {
                    // Fresh, but not shorter than it was: nobody relies on that.
                    boolean longer = call.kind == Kind.EXTEND;
                    return mine
                            .map(held -> state.plus(
                                    new Held(call.claim, held.mode, from, to, call.id, longer ? held.to : 0)))
                            .stream()
                            .toList();
                }
                boolean refused = call.kind == Kind.EXTEND
                        && (!extendable
                                || isWaitedFor(state, call.sent)
                                || mine.stream().anyMatch(held -> held.mode != Mode.EXCLUSIVE));
                return mine.isEmpty() || refused ? List.of(state) : List.of();
            }
            case DOWNGRADE -> {
                boolean reader = mine.isPresent() && !(mine.get().mode instanceof Mode.Permits);
                return yes
                        ? mine
                                .filter(held -> reader && downgradable)
                                .map(held -> state.plus(
                                        new Held(held.claim, Mode.SHARED, held.from, held.to, held.by, held.least)))
                                .stream()
                                .toList()
                        : !reader || !downgradable ? List.of(state) : List.of();
            }
            case RELEASE -> {
                if (yes) {
                    return mine.or(() -> broken).map(state::without).stream().toList();
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
        if (!yes) {
            return mine.isEmpty() || call.mayMiss || isOffer(mine.get()) ? List.of(state) : List.of();
        }
        return mine
                .or(() -> broken)
                .map(held -> call.kind == Kind.BREAK
                        ? state.without(held)
                        : state.without(held).plus(held.broken(call.sent)))
                .stream()
                .toList();
    }

    /** A holder that is no more; if it was offered the lock it waits again, unless it had just taken the offer. */
    private List<State> passedOn(State state, Held gone) {
        State ended = state.without(gone);
        if (!isOffer(gone)) {
            return List.of(ended);
        }
        Map<Integer, Boolean> done = new HashMap<>(ended.done);
        done.remove(gone.by);
        return List.of(ended, new State(ended.held, Map.copyOf(done)));
    }

    private List<State> claimed(State state, Call call, boolean yes, Optional<Held> mine, long from, long to) {
        boolean stands = mine.isPresent() && !isOffer(mine.get());
        if (yes) {
            if (stands) {
                Held held = mine.get();
                return List.of(
                        state.plus(new Held(call.claim, held.mode, Math.max(held.from, from), to, call.id, held.to)));
            }
            boolean mayGoAgain = call.kind == Kind.WAIT || call.ghost;
            boolean mayOverlook = byPlace && call.mode instanceof Mode.Permits;
            int most = mayOverlook ? ((Mode.Permits) call.mode).of() : Integer.MAX_VALUE;
            return mine.isEmpty() && state.fits(call.mode, most)
                    ? List.of(state.plus(new Held(call.claim, call.mode, mayGoAgain ? 0 : from, to, call.id, 0)))
                    : List.of();
        }
        if (call.kind == Kind.WAIT) {
            return call.cancelled && mine.isEmpty() ? List.of(state) : List.of();
        }
        boolean busy = !state.fits(call.mode, Integer.MAX_VALUE)
                || isWaitedFor(state, call.sent)
                || finished.contains(call.claim)
                || state.held.stream().anyMatch(Held::isBroken);
        return !stands && busy ? List.of(state) : List.of();
    }

    /** The store did what it must not do. */
    static final class Violation extends AssertionError {
        private static final long serialVersionUID = 1L;

        Violation(String message) {
            super(message);
        }
    }

    /** So much is open that nothing can be judged. */
    static final class TooWide extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }
}
