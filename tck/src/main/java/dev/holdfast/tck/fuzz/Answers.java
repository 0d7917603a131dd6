package dev.holdfast.tck.fuzz;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/** Sends requests and judges their answers: by the model of the lock, by the numbers, by what clients are sure of. */
final class Answers {
    /** How long after its failure a request may still take effect. */
    private static final long LATE = TimeUnit.SECONDS.toNanos(8);

    private static final long ROUNDING = TimeUnit.MICROSECONDS.toNanos(1);

    private final World world;
    private final Beliefs beliefs;
    private final List<Numbered> numbers = new ArrayList<>();

    /** A grant and its number. */
    private record Numbered(int name, int label, Mode mode, long number, long sent, long answered) {
        boolean conflicts(Numbered other) {
            return name == other.name
                    && label != other.label
                    && (mode == Mode.EXCLUSIVE || other.mode.kind() != mode.kind());
        }
    }

    Answers(World world, Beliefs beliefs) {
        this.world = world;
        this.beliefs = beliefs;
    }

    /** The highest number that any client was given so far. */
    long highestNumber() {
        return numbers.stream().mapToLong(Numbered::number).max().orElse(0);
    }

    <T> void ask(
            Op op, FuzzClient owner, List<Call> sent, Supplier<CompletionStage<T>> send, BiConsumer<T, Long> judge) {
        World.Asked request = world.asking(owner, sent.stream().anyMatch(call -> call.kind == Call.Kind.WAIT));
        sent.forEach(call -> {
            call.sender = owner;
            world.modelOf(call).sent(call);
        });
        BiConsumer<T, Throwable> answered = (answer, failure) -> {
            long at = System.nanoTime();
            world.inbox.add(() -> {
                request.done = true;
                world.log("  " + op + " -> " + (failure == null ? answer : failure));
                if (sent.stream().anyMatch(Call::isLost) || !world.isAlive(owner)) {
                    return; // its client is gone, and nobody hears this
                }
                world.stats.answers.increment();
                if (world.target.isSessionBound() && sent.stream().anyMatch(call -> tookASession(call, at))) {
                    throw new TooWide(); // the machine is too slow for so short a session
                }
                if (failure == null) {
                    owner.reachableAt = Math.max(owner.reachableAt, at);
                    judge.accept(answer, at);
                    haunt(sent, at);
                } else {
                    sent.forEach(call -> unanswered(call, at, failure.toString()));
                    checkFailure(failure, op);
                }
            });
        };
        send.get().whenComplete(answered);
    }

    void yes(Call call, boolean yes, long at) {
        call.twice |= serverFailed(call, at) || (call.sender != null && call.sender.isRecovering(call.sent, at));
        world.modelOf(call).answered(call, yes, at, call.from(), call + " answered " + yes);
        world.outcomes.put(call.id, call + " " + yes);
        Claimed mine = world.claimed.get(call.claim);
        if (mine != null && yes) {
            mine.gone |=
                    call.kind == Call.Kind.BREAK || call.kind == Call.Kind.RELEASE || call.kind == Call.Kind.WITHDRAW;
        }
        if (call.kind == Call.Kind.RELEASE && !yes) {
            world.refusedAt = at;
        }
    }

    void granted(Claimed mine, Call call, Optional<Grant> answer, long at) {
        world.stats.reach("a grant comes after its cancellation", call.cancelled && answer.isPresent());
        if (answer.isEmpty()) {
            yes(call, false, at);
            world.stats.reach("an offer is refused by a claim that was cancelled", call.cancelled && call.mayHold);
            return;
        }
        Grant grant = answer.get();
        long sent = mine.owner.time.real(grant.sentNanos());
        long from = call.hurried && call.lease != Call.NEVER ? 0 : call.from(sent);
        if (!grant.id().equals(mine.claim.id())
                || !grant.name().equals(mine.claim.name())
                || !(world.target.isSessionBound() || grant.lease().equals(mine.claim.lease()))
                || (sent < call.sent - ROUNDING && !world.target.isSessionBound())
                || sent > at + ROUNDING) {
            throw new Violation("not what was claimed: " + grant + " for " + mine.claim);
        }
        world.modelOf(call).answered(call, true, at, from, "#" + mine.label + " granted, number " + grant.number());
        world.outcomes.put(call.id, call + " true");
        Grant before = mine.grant;
        boolean again = before != null && before.number() == grant.number();
        world.stats.reach("a repeated claim keeps its number", again);
        // Perhaps it ended before the repetition, which is a new grant then.
        boolean ended = call.disturbed || world.modelOf(call).isFinished(mine.label);
        if (before != null && !again && !ended && world.target.repeatsKeepNumbers() && at < mine.validUntil) {
            throw new Violation(
                    "a repeated claim changed its number from " + before.number() + " to " + grant.number());
        }
        if (!again && world.target.repeatsKeepNumbers()) {
            mine.mode = mine.claim.mode(); // a new grant, also where it had been made a reader
        }
        mine.take(grant, at);
        mine.validUntil = Math.max(mine.validUntil, from);
        if (!again) {
            number(mine, grant.number(), sent, at);
        }
        beliefs.granted(mine, call, sent, at);
    }

    void extended(Claimed mine, Call call, Optional<Grant> fresh, long at) {
        yes(call, fresh.isPresent(), at);
        fresh.ifPresent(grant -> {
            number(mine, grant.number(), call.sent, at);
            mine.take(grant, at);
        });
    }

    void renewed(Claimed mine, Call call, Renewal answer, boolean inDoubt, long at) {
        switch (answer.verdict()) {
            case HELD -> {
                // a session may have been proved shortly before
                long began = call.endless ? Math.min(call.sent, mine.owner.time.real(answer.sentNanos())) : call.sent;
                world.modelOf(call).answered(call, true, at, call.from(began), "#" + mine.label + " renewed");
                world.outcomes.put(call.id, call + " true");
                beliefs.renewed(mine, call, began);
                world.stats.reach("a hold in doubt is confirmed", inDoubt);
            }
            case LOST -> {
                yes(call, false, at);
                world.stats.reach("a renewal finds the lease over", !mine.ended);
                mine.ended = true;
                mine.mayStand |= call.mayMiss;
            }
            case UNKNOWN -> unanswered(call, at, "renewal unknown");
        }
    }

    private void number(Claimed mine, long number, long sent, long at) {
        Numbered fresh = new Numbered(mine.name, mine.label, mine.mode, number, sent, at);
        for (Numbered old : numbers) {
            if (!world.clockSetBack && fresh.conflicts(old) && old.answered < sent && number <= old.number) {
                throw new Violation("the number fell: " + fresh + " after " + old);
            }
        }
        if (number <= mine.claim.floor()) {
            throw new Violation("the number " + number + " is not above the floor " + mine.claim.floor());
        }
        numbers.add(fresh);
    }

    private void checkFailure(Throwable failure, Op op) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (world.trouble == Script.Trouble.NONE || !(cause instanceof StoreUnavailableException)) {
            throw (Violation) new Violation(op + " failed: " + cause).initCause(cause);
        }
    }

    private void unanswered(Call call, long at, String why) {
        FuzzClient sender = call.sender;
        if (world.trouble == Script.Trouble.NONE
                && world.target.isSessionBound()
                && (sender != null && sender.suspected.get() > 0
                        || 2 * (at - call.sent) > world.target.session().toNanos())) {
            throw new TooWide(); // the machine is too slow for so short a session
        }
        if (world.trouble == Script.Trouble.NONE) {
            throw new Violation(call + " was not answered, and nothing was wrong: " + why);
        }
        world.modelOf(call).lost(call, at + LATE);
        Claimed mine = world.claimed.get(call.claim);
        if (mine != null && mine.call == call) {
            mine.unknown = true;
        }
    }

    /** On a bad wire a request may have been sent twice, and the second copy come late. */
    private void haunt(List<Call> sent, long at) {
        for (Call call : sent) {
            Claimed mine = world.claimed.get(call.claim);
            if (mine != null
                    && (call.kind == Call.Kind.CLAIM || call.kind == Call.Kind.WAIT)
                    && mayComeTwice(call, at)) {
                Call copy = world.call(mine, Call.Kind.CLAIM, mine.claim.lease().toNanos());
                copy.ghost = true;
                world.modelOf(call).sent(copy);
                world.modelOf(call).lost(copy, at + LATE);
            }
        }
    }

    private boolean tookASession(Call call, long at) {
        return call.kind != Call.Kind.WAIT
                && at - call.sent > world.target.session().toNanos();
    }

    private boolean mayComeTwice(Call call, long at) {
        return serverFailed(call, at) || (call.sender != null && call.sender.wasHarmed(call.sent, at));
    }

    private boolean serverFailed(Call call, long at) {
        return world.serverFailedAt >= call.sent && world.serverFailedAt <= at;
    }
}
