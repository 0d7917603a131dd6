package dev.holdfast.tck.fuzz;

import dev.holdfast.Holder;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.fuzz.Call.Kind;
import dev.holdfast.tck.fuzz.Op.Verb;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** What clients ask of the store. */
final class Requests {
    private final World world;
    private final Answers answers;
    private final Beliefs beliefs;

    Requests(World world, Answers answers, Beliefs beliefs) {
        this.world = world;
        this.answers = answers;
        this.beliefs = beliefs;
    }

    void claim(Op op) throws Exception {
        FuzzClient owner = world.client(op.client());
        Claim claim = new Claim(
                ClaimId.random(),
                world.text(op.name()),
                world.target.exclusiveOnly() ? Mode.EXCLUSIVE : op.wanted(),
                Duration.ofMillis(op.millis()),
                op.verb() == Verb.WAIT,
                floor(op),
                new Holder("fuzz", 7, "thread", "c" + op.claim()));
        Kind kind = claim.waits() ? Kind.WAIT : Kind.CLAIM;
        Call call = world.call(
                op.name(), kind, op.claim(), claim.mode(), claim.lease().toNanos());
        Claimed mine = new Claimed(op.claim(), owner, op.name(), claim, call);
        world.claimed.put(op.claim(), mine);
        answers.ask(op, owner, List.of(call), () -> send(mine), (grant, at) -> answers.granted(mine, call, grant, at));
    }

    /** Often none, often the highest number that was seen, seldom one that is far ahead, as a clock set back would leave. */
    private long floor(Op op) {
        long highest = answers.highestNumber();
        if (op.claim() % 8 == 7 && world.trouble != Script.Trouble.CLOCK && !world.target.isSessionBound()) {
            return highest + world.target.ahead().toNanos() / 1000;
        }
        return op.claim() % 2 == 0 && world.trouble != Script.Trouble.CLOCK ? 0 : highest;
    }

    private static CompletionStage<Optional<Grant>> send(Claimed mine) {
        Asked pending = Asked.of(mine.owner.store, mine.claim);
        if (mine.claim.waits()) {
            mine.pending = pending;
        }
        return pending.answer();
    }

    /** What an earlier claim asks for, as far as that makes sense. */
    void withClaim(Op op, @Nullable Claimed mine) {
        if (mine == null || !world.isAlive(mine.owner)) {
            return;
        }
        boolean asked = world.model(mine.name).open.containsKey(mine.call.id) && !mine.call.isLost();
        if (op.verb() == Verb.CANCEL) {
            cancel(mine);
        } else if (op.verb() == Verb.WITHDRAW && !asked) {
            withdraw(op, mine);
        } else if (op.verb() != Verb.WITHDRAW && mine.grant != null) {
            withGrant(op, mine, mine.grant);
        }
    }

    private void withGrant(Op op, Claimed mine, Grant grant) {
        Duration lease = Duration.ofMillis(op.millis());
        switch (op.verb()) {
            case RELEASE -> release(op, mine);
            case REPEAT -> repeat(op, mine);
            case RENEW -> renew(op, mine.owner, lease);
            case EXTEND -> {
                Call call = world.call(mine, Kind.EXTEND, lease.toNanos());
                beliefs.renewing(mine, call); // it may also be made shorter
                answers.ask(
                        op,
                        mine.owner,
                        List.of(call),
                        () -> mine.owner.store.extend(grant.withLease(lease)),
                        (fresh, at) -> answers.extended(mine, call, fresh, at));
            }
            case DOWNGRADE -> {
                if (!world.target.repeatsChanged() && isUnderWay(mine, Kind.CLAIM)) {
                    return;
                }
                Call call = world.call(mine, Kind.DOWNGRADE, 0);
                mine.sureUntil = 0;
                answers.ask(op, mine.owner, List.of(call), () -> mine.owner.store.downgrade(grant), (yes, at) -> {
                    answers.yes(call, yes, at);
                    mine.mode = yes ? Mode.SHARED : mine.mode;
                });
            }
            default -> throw new AssertionError(op);
        }
    }

    private void cancel(Claimed mine) {
        Pending pending = mine.pending;
        if (pending != null && world.waits(mine)) {
            mine.call.cancelled = true;
            pending.cancel();
            if (world.script.inFlight() == 1 && world.trouble == Script.Trouble.NONE) {
                world.inbox.await(() -> !world.waits(mine), "the cancelled claim #" + mine.label);
            }
        }
    }

    void withdraw(Op op, Claimed mine) {
        Call call = world.call(mine, Kind.WITHDRAW, 0);
        mine.ended = true;
        answers.ask(
                op,
                mine.owner,
                List.of(call),
                () -> mine.owner.store.withdraw(mine.claim).thenApply(done -> true),
                (yes, at) -> answers.yes(call, true, at));
    }

    void release(Op op, Claimed mine) {
        Call call = world.call(mine, Kind.RELEASE, 0);
        mine.ended = true;
        mine.mayStand |= isUnderWay(mine, Kind.CLAIM);
        Grant grant = mine.grant;
        world.stats.reach(
                "a renewal crosses a release",
                world.model(mine.name).open.values().stream()
                        .anyMatch(each -> each.kind == Kind.RENEW && each.claim == mine.label));
        answers.ask(
                op,
                mine.owner,
                List.of(call),
                () -> mine.owner.store.release(grant),
                (yes, at) -> answers.yes(call, yes, at));
    }

    private boolean isUnderWay(Claimed mine, Kind kind) {
        return world.model(mine.name).open.values().stream()
                .anyMatch(each -> each.claim == mine.label && each.kind == kind);
    }

    /** The same claim once more, as after a lost answer. */
    private void repeat(Op op, Claimed mine) {
        boolean asGiven = !mine.broken && mine.mode.equals(mine.claim.mode()) && !isUnderWay(mine, Kind.DOWNGRADE);
        if (mine.ended || world.waits(mine) || (!asGiven && !world.target.repeatsChanged())) {
            return;
        }
        Claim first = mine.claim;
        Call call = world.call(mine, Kind.CLAIM, first.lease().toNanos());
        if (!world.target.repeatsKeepNumbers()) {
            beliefs.renewing(mine, call);
        }
        Claim again =
                new Claim(first.id(), first.name(), first.mode(), first.lease(), false, first.floor(), first.holder());
        answers.ask(
                op,
                mine.owner,
                List.of(call),
                () -> Asked.of(mine.owner.store, again).answer(),
                (fresh, at) -> answers.granted(mine, call, fresh, at));
    }

    /** All grants of a client in one batch. */
    void renew(Op op, FuzzClient owner, Duration lease) {
        List<Claimed> all = world.all()
                .filter(each -> each.owner == owner && each.grant != null)
                .toList();
        Map<ClaimId, Call> batch = new HashMap<>();
        for (Claimed each : all) {
            Call call = world.call(each, Kind.RENEW, lease.toNanos());
            batch.put(each.claim.id(), call);
            beliefs.renewing(each, call);
        }
        List<Grant> grants =
                all.stream().map(each -> each.grant.withLease(lease)).toList();
        int doubts = owner.suspected.get();
        answers.ask(
                op,
                owner,
                List.copyOf(batch.values()),
                () -> owner.store.renew(grants),
                (renewals, at) -> all.forEach(each -> {
                    Renewal answer = renewals.get(each.claim.id());
                    if (answer == null) {
                        throw new Violation("a renewal without an answer for #" + each.label);
                    }
                    answers.renewed(each, batch.get(each.claim.id()), answer, doubts > 0, at);
                }));
    }

    /** Breaks the grant of one who holds, or the one before. */
    void breakGrant(Op op) throws Exception {
        boolean now = op.verb() == Verb.BREAK;
        FuzzClient client = world.client(op.client());
        world.inbox.drain();
        List<Claimed> seen =
                world.all(op.name()).filter(each -> each.grant != null).toList();
        if (seen.isEmpty()) {
            return;
        }
        Claimed shown = seen.get(Math.max(0, seen.size() - 1 - op.client() % 2));
        long number = Objects.requireNonNull(shown.grant).number();
        Call call = world.call(shown, now ? Kind.BREAK : Kind.REVOKE, 0);
        shown.breaks();
        answers.ask(
                op,
                client,
                List.of(call),
                () -> {
                    call.mayMiss |= shown.number() != number; // an answer came meanwhile
                    return client.store.breakGrant(world.text(op.name()), number, now);
                },
                (yes, at) -> answers.yes(call, yes, at));
    }
}
