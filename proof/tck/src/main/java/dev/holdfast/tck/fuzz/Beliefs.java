package dev.holdfast.tck.fuzz;

import dev.holdfast.spi.Mode;
import java.util.List;

/**
 * What clients may be sure of by their own clocks: from an answer on until the lease, less the margin, has run since its
 * request was sent. Those who are sure at the same time must fit together. A clock that is slower than the margin covers
 * is no violation, but is counted: the judge would see one. For stores with leases.
 */
final class Beliefs {
    private static final long SMALLEST_MARGIN = 2_000_000;

    private final World world;

    Beliefs(World world) {
        this.world = world;
    }

    /** A client was told that it holds. */
    void granted(Claimed fresh, Call call, long sent, long at) {
        if (world.target.isSessionBound()) {
            return;
        }
        if (call.disturbed || world.modelOf(call).isFinished(call.claim)) {
            return; // it may have been broken, or given up, before its client heard of it
        }
        long until = until(fresh, sent, call.lease);
        fresh.sureUntil = call.crossed ? Math.min(fresh.sureUntil, until) : Math.max(fresh.sureUntil, until);
        if (fresh.sureUntil <= at) {
            return;
        }
        List<Claimed> sure = world.all(fresh.name)
                .filter(each -> each != fresh && world.holds(each) && each.sureUntil > at)
                .toList();
        List<Claimed> covered =
                sure.stream().filter(each -> each.owner.time.isCovered()).toList();
        if (!standTogether(fresh.mode, covered)) {
            throw new Violation("#" + fresh.label + " was granted " + fresh.mode + " while sure to hold were "
                    + covered.stream()
                            .map(each -> "#" + each.label + " " + each.mode)
                            .toList());
        }
        world.stats.reach("a clock slower than the margin covers is seen", !standTogether(fresh.mode, sure));
    }

    void renewing(Claimed mine, Call call) {
        mine.validUntil = Math.min(mine.validUntil, call.from());
        mine.sureUntil = Math.min(mine.sureUntil, until(mine, call.sent, call.lease));
    }

    void renewed(Claimed mine, Call call, long sent) {
        if (!call.crossed && !call.disturbed && !mine.broken) {
            mine.sureUntil = until(mine, sent, call.lease);
        }
    }

    private static long until(Claimed mine, long sent, long lease) {
        long margin = Math.max(lease / 100, SMALLEST_MARGIN);
        return lease == Call.NEVER ? Call.NEVER : sent + (long) ((lease - margin) / mine.owner.time.rate());
    }

    /** Whether they may all hold, in whatever order they came: the last of permits may have thought of the most. */
    private static boolean standTogether(Mode mode, List<Claimed> others) {
        if (mode instanceof Mode.Permits wanted) {
            int most = others.stream()
                    .mapToInt(each -> each.mode instanceof Mode.Permits some ? some.of() : 0)
                    .reduce(wanted.of(), Math::max);
            return fits(new Mode.Permits(wanted.permits(), most), others);
        }
        return fits(mode, others);
    }

    /** Whether a claim fits beside holders. */
    static boolean fits(Mode mode, List<Claimed> holding) {
        if (mode instanceof Mode.Permits wanted) {
            int out = 0;
            for (Claimed each : holding) {
                if (!(each.mode instanceof Mode.Permits some)) {
                    return false;
                }
                out += some.permits();
            }
            return out + wanted.permits() <= wanted.of();
        }
        return holding.isEmpty()
                || (mode == Mode.SHARED && holding.stream().allMatch(each -> each.mode == Mode.SHARED));
    }
}
