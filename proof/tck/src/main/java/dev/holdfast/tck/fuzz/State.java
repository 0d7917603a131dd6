package dev.holdfast.tck.fuzz;

import dev.holdfast.spi.Mode;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** Who holds it, and which open requests have taken effect, with what outcome. */
record State(Set<Held> held, Map<Integer, Boolean> done) {
    Optional<Held> of(int claim) {
        return held.stream().filter(each -> each.claim() == claim).findFirst();
    }

    State with(Set<Held> fresh) {
        return new State(fresh, done);
    }

    State without(Held gone) {
        return with(held.stream().filter(each -> !each.equals(gone)).collect(Collectors.toSet()));
    }

    State plus(Held more) {
        Set<Held> all = new HashSet<>(held);
        all.removeIf(each -> each.claim() == more.claim());
        all.add(more);
        return with(all);
    }

    State map(UnaryOperator<Held> change) {
        return with(held.stream().map(change).collect(Collectors.toSet()));
    }

    /** Whether somebody is in it whose lease was surely over by then. */
    boolean isOver(long by) {
        return held.stream().anyMatch(each -> each.to() < by);
    }

    /** Whether there is room, counting only holders that think of so many permits, at most. */
    boolean fits(Mode mode, int most) {
        if (mode instanceof Mode.Permits wanted) {
            int out = 0;
            for (Held each : held) {
                if (!(each.mode() instanceof Mode.Permits some)) {
                    return false;
                }
                out += some.of() <= most ? some.permits() : 0;
            }
            return out + wanted.permits() <= wanted.of();
        }
        return held.isEmpty() || (mode == Mode.SHARED && held.stream().allMatch(each -> each.mode() == Mode.SHARED));
    }
}
