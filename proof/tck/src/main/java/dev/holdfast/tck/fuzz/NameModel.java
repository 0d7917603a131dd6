package dev.holdfast.tck.fuzz;

import dev.holdfast.LockStatus;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

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
    private static final int MOST_STATES = 50_000;
    /** A clock that was set is read again within this. */
    private static final long STEP = TimeUnit.MILLISECONDS.toNanos(100);

    final Map<Integer, Call> open = new LinkedHashMap<>();
    private final Set<Look> looks = new LinkedHashSet<>();
    private final Effects effects;
    private final boolean byPlace;
    private Set<State> states = Set.of(new State(Set.of(), Map.of()));

    /**
     * A model of a free lock.
     *
     * @param extendable whether grants can be given a fresh number
     * @param downgradable whether a writer can become a reader
     * @param lingers how long the place of a session that was given up may keep others out; 0 where there are none. By
     *     place, a claim counts only the permits of those before it: one behind it, who thinks of more, may hold some
     * @param repeatsShorten whether an exclusive claim that is repeated may end its lease earlier than a renewal had made
     *     it
     */
    NameModel(boolean extendable, boolean downgradable, long lingers, boolean repeatsShorten) {
        this.byPlace = lingers > 0;
        effects = new Effects(open, extendable, downgradable, lingers, repeatsShorten);
    }

    int size() {
        return states.size();
    }

    void sent(Call call) {
        open.put(call.id, call);
        looks.forEach(look -> seenBy(look, call));
        if (call.kind == Call.Kind.RELEASE || call.kind == Call.Kind.WITHDRAW) {
            effects.finished(call.claim);
        }
        if (call.isBreak()) {
            open.values().forEach(each -> each.disturbed = true);
        }
        List<Call> ofClaim =
                open.values().stream().filter(each -> each.claim == call.claim).toList();
        call.disturbed |= ofClaim.stream().anyMatch(Call::isBreak);
        if (ofClaim.stream().anyMatch(Call::mayRenumber)) {
            ofClaim.forEach(each -> each.mayMiss = true);
        }
        if (ofClaim.size() > 1 && ofClaim.stream().anyMatch(each -> each.kind == Call.Kind.RENEW)) {
            ofClaim.forEach(each -> each.crossed = true);
        }
        List<Call> releases = ofClaim.stream()
                .filter(each -> each.kind == Call.Kind.RELEASE || each.kind == Call.Kind.WITHDRAW)
                .toList();
        releases.forEach(each -> each.twice |= releases.size() > 1);
    }

    /** An answer came: {@code from} is when a lease that it began ends at the earliest. */
    void answered(Call call, boolean yes, long now, long from, String what) {
        Set<State> possible = explore(call.sent, now);
        open.remove(call.id);
        call.mayHold = possible.stream().anyMatch(state -> state.of(call.claim).isPresent());
        long to = call.end(now);
        boolean gone = call.kind != Call.Kind.WAIT || !yes || call.disturbed || from <= now;
        // A claim that was carried out, and broken before its store looked what came of it, may be told that it failed.
        boolean broken = call.kind == Call.Kind.CLAIM && !yes && call.disturbed;
        // A renewal as well: the lease is a new one, and not its any more. So may one whose lease has ended before its
        // answer.
        boolean overtaken = call.kind == Call.Kind.RENEW && !yes && (call.disturbed || from <= now);
        // A claim that is sent again when its first lease has ended may find another holder.
        boolean late = call.kind == Call.Kind.CLAIM && !yes && from <= now;
        Predicate<State> right = state -> (state.done().getOrDefault(call.id, !yes)
                                == (yes || broken && state.of(-call.claim - 1).isPresent())
                        || (overtaken && state.of(call.claim).isEmpty())
                        || (late && state.of(call.claim).isEmpty() && !state.fits(call.mode, Integer.MAX_VALUE)))
                && (gone || state.of(call.claim).isPresent());
        narrow(what, possible, right, state -> {
            Map<Integer, Boolean> done = new HashMap<>(state.done());
            done.remove(call.id);
            return new State(
                    state.map(each -> each.by() != call.id
                                    ? each
                                    : new Held(
                                            each.claim(),
                                            each.mode(),
                                            call.beganBefore(from) ? from : each.endsNotBefore(from),
                                            Math.max(each.least(), to),
                                            -1,
                                            0))
                            .held(),
                    Map.copyOf(done));
        });
    }

    /** No answer came, or none that says anything. */
    void lost(Call call, long until) {
        call.until = until;
        states = changed(state -> state.map(each -> each.by() == call.id && each.to() == Call.NEVER
                ? new Held(each.claim(), each.mode(), each.from(), call.end(until), each.by(), 0)
                : each));
    }

    /** A look at the lock that is under way, and what it may have seen so far. */
    static final class Look {
        private final long sent = System.nanoTime();
        private final Set<State> seen = new HashSet<>();
        /** How many claims it may have found waiting, at most. */
        private long waiting;
        /** Claims that waited meanwhile, and may have been seen when they had an offer. */
        private final Set<Integer> offered = new HashSet<>();
    }

    /** In a line of places, a claim that does not wait may take one and leave it again. */
    private boolean mayWait(Call call) {
        return call.kind == Call.Kind.WAIT || (byPlace && call.kind == Call.Kind.CLAIM);
    }

    /** Whether a claim was given up. */
    boolean isFinished(int claim) {
        return effects.isFinished(claim);
    }

    Look look() {
        Look look = new Look();
        open.values().stream().filter(call -> call.until >= look.sent).forEach(call -> seenBy(look, call));
        looks.add(look);
        return look;
    }

    private void seenBy(Look look, Call call) {
        if (mayWait(call)) {
            look.waiting++;
            look.offered.add(call.id);
        }
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
        states = changed(state -> state.map(each -> claims.test(each.claim())
                ? new Held(each.claim(), each.mode(), Math.min(each.from(), now), latest, -1, 0)
                : each));
    }

    /** Whether a claim surely holds it then. */
    boolean isSure(int claim, long then) {
        return states.stream().allMatch(state -> state.of(claim).stream().anyMatch(each -> each.from() > then));
    }

    /** The server's clock was set ahead by so much, or back, at some moment between the two. */
    void clockSet(long by, long before, long now) {
        open.values().forEach(call -> {
            call.late = Math.max(0, call.late - by);
            call.hurried |= by > 0;
            call.crossed |= by > 0;
        });
        states = changed(state -> state.map(each -> new Held(
                each.claim(),
                each.mode(),
                by > 0 ? Math.min(each.from(), before) : each.from(),
                each.to() == Call.NEVER ? Call.NEVER : Math.max(now + STEP, each.to() - by),
                each.by(),
                each.least() - Math.min(by, 0))));
    }

    /**
     * When everybody who may hold it has surely lost it, but for those that are known. A request that nobody awaits any more
     * may still be carried out.
     */
    long latestEnd(Predicate<Integer> except) {
        LongStream held = states.stream()
                .flatMap(state -> state.held().stream())
                .filter(each -> !except.test(each.claim()))
                .mapToLong(Held::to);
        LongStream lost = open.values().stream()
                .filter(call -> call.isLost() && !except.test(call.claim))
                .mapToLong(call -> call.end(call.until));
        return LongStream.concat(held, lost)
                .filter(end -> end != Call.NEVER)
                .max()
                .orElse(0);
    }

    /** Whether a status is what somebody who looks into this state may see. */
    boolean shows(State state, LockStatus status, Predicate<Held> told, Look look) {
        List<Held> sure = state.held().stream()
                .filter(each -> !each.isBroken() && !effects.isOffer(each) && !look.offered.contains(each.by()))
                .toList();
        boolean holders = status.grant().isPresent()
                ? sure.stream().anyMatch(told) || sure.size() < state.held().size()
                : sure.isEmpty();
        return holders && status.waiting() <= look.waiting;
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
        return state.held().stream()
                .map(each -> "#" + each.claim() + " " + each.mode() + " ends in "
                        + (each.from() == Call.NEVER ? "never" : (each.from() - now) / 1_000_000) + ".."
                        + (each.to() == Call.NEVER ? "?" : (each.to() - now) / 1_000_000) + " ms")
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
        if (open.keySet().containsAll(state.done().keySet())) {
            return state;
        }
        Map<Integer, Boolean> done = new HashMap<>(state.done());
        done.keySet().retainAll(open.keySet());
        return new State(state.held(), Map.copyOf(done));
    }

    private List<State> nexts(State state, long now) {
        List<State> all = new ArrayList<>();
        for (Held each : state.held()) {
            if (each.from() <= now || effects.isOffer(each)) {
                all.addAll(effects.passedOn(state, each));
            }
        }
        for (Call call : open.values()) {
            if (!state.done().containsKey(call.id) && state.held().stream().noneMatch(each -> each.to() < call.sent)) {
                for (State next : effects.outcomes(state, call, true)) {
                    all.add(Effects.done(next, call, true));
                }
                for (State next : effects.outcomes(state, call, false)) {
                    all.add(Effects.done(next, call, false));
                }
            }
        }
        return all;
    }
}
