package dev.holdfast.tck.fuzz;

import dev.holdfast.Holder;
import dev.holdfast.LockMode;
import dev.holdfast.LockStatus;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Renewal;
import dev.holdfast.tck.fuzz.NameModel.Call;
import dev.holdfast.tck.fuzz.NameModel.Kind;
import dev.holdfast.tck.fuzz.NameModel.Violation;
import dev.holdfast.tck.fuzz.Op.Verb;
import dev.holdfast.testbed.ServerProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One script, carried out on a store: sends each request, has each answer judged, and in the end lets everybody finish,
 * who then must be able to.
 */
final class History {
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(45);
    /** How long after its failure a request may still take effect. */
    private static final long LATE = TimeUnit.SECONDS.toNanos(8);
    /** What a busy machine and a store's poll may take. */
    private static final long SLACK = TimeUnit.SECONDS.toNanos(3);

    /** How long a claim is given to get into the queue. */
    private static final long QUEUEING = TimeUnit.MILLISECONDS.toNanos(700);
    /** How long a fault is given to meet a packet. */
    private static final long BITE = TimeUnit.SECONDS.toNanos(2);

    private static final long TOLERANCE = TimeUnit.MILLISECONDS.toNanos(3);
    private static final Duration KEPT = Duration.ofSeconds(20);
    private static final long TOKENS_PER_NUMBER = 1024;

    private final StoreFuzz target;
    private final Script script;
    private final FuzzStats stats;
    private final @Nullable FuzzClient[] clients;
    private final String prefix;
    private final Script.Trouble trouble;
    private final Map<Integer, NameModel> names = new LinkedHashMap<>();
    private final Map<Integer, Claimed> claimed = new LinkedHashMap<>();
    private final List<Numbered> numbers = new ArrayList<>();
    private final BlockingQueue<Runnable> arrived = new LinkedBlockingQueue<>();
    private final List<String> log = new ArrayList<>();
    private final long begun = System.nanoTime();
    private int calls;
    private final List<Asked> asked = new ArrayList<>();
    private boolean killed;
    private @Nullable Op fault;
    private long faultBegun;
    private long serverFailedAt = Long.MIN_VALUE;

    /** A claim of the script and what became of it. */
    private final class Claimed {
        final int label;
        final FuzzClient owner;
        final int name;
        final Claim claim;
        final Call call;
        Mode mode;

        @Nullable
        Pending pending;

        @Nullable
        Grant grant;

        long validUntil;
        boolean ended;
        boolean broken;
        boolean unknown;

        Claimed(int label, FuzzClient owner, int name, Claim claim, Call call) {
            this.label = label;
            this.owner = owner;
            this.name = name;
            this.claim = claim;
            this.call = call;
            this.mode = claim.mode();
        }

        boolean waits() {
            return pending != null && names.get(name).open.containsKey(call.id) && !call.isLost() && alive();
        }

        void breaks() {
            broken = true;
            validUntil = 0;
        }

        boolean alive() {
            return Stream.of(clients).anyMatch(each -> each == owner);
        }

        boolean holds() {
            return grant != null && !ended && alive();
        }
    }

    /** A request on its way. */
    private static final class Asked {
        final FuzzClient owner;
        final boolean waits;
        final long sent = System.nanoTime();
        boolean done;

        Asked(FuzzClient owner, boolean waits) {
            this.owner = owner;
            this.waits = waits;
        }
    }

    /** A grant and its number. */
    private record Numbered(int name, int label, Mode mode, long number, long sent, long answered) {
        boolean conflicts(Numbered other) {
            return name == other.name
                    && label != other.label
                    && (mode.kind() == LockMode.EXCLUSIVE || other.mode.kind() != mode.kind());
        }
    }

    History(StoreFuzz target, Script script, FuzzStats stats, @Nullable FuzzClient[] clients, String prefix) {
        this.target = target;
        this.script = script;
        this.stats = stats;
        this.clients = clients;
        this.prefix = prefix;
        this.trouble = script.trouble();
    }

    /** What happened, line by line. */
    List<String> log() {
        return log;
    }

    void run() throws Exception {
        for (Op op : script.ops()) {
            log(op.toString());
            stats.operations.increment();
            begin(op);
            int most =
                    op.verb() == Verb.WAIT || trouble != Script.Trouble.NONE && fault != null ? 99 : script.inFlight();
            await(() -> inFlight() < most, "an answer to " + op);
            if (!op.verb().isFault()) {
                endFault(op);
            }
            names.values().forEach(each -> stats.states(each.size()));
        }
        settle();
    }

    private void begin(Op op) throws Exception {
        switch (op.verb()) {
            case PASS -> pass(op.millis());
            case CLOSE, KILL -> leave(op);
            case DROP, HOLD, MUTE, DEAF, CUT -> {
                client(op.client()).harm(op);
                faultBegun = System.nanoTime();
                fault = op;
            }
            case STOP -> {
                openAll(); // nobody gets in while it stands still
                stats.planned.increment();
                target.process().ifPresent(process -> process.stop());
                fault = op;
            }
            case CRASH -> crash();
            case STATUS, LIST -> neutrally(op, () -> look(op));
            case TRY, WAIT -> {
                if (op.verb() == Verb.TRY) {
                    neutrally(op, () -> claim(op));
                } else {
                    join(op);
                }
            }
            case REVOKE, BREAK -> {
                boolean now = op.verb() == Verb.BREAK;
                List<Claimed> seen =
                        all(op.name()).filter(each -> each.grant != null).toList();
                if (seen.isEmpty()) {
                    return;
                }
                Claimed shown = seen.get(Math.max(0, seen.size() - 1 - op.client() % 2)); // perhaps one before the last
                long number = Objects.requireNonNull(shown.grant).number();
                Call call = call(shown, now ? Kind.BREAK : Kind.REVOKE, 0);
                shown.breaks();
                FuzzClient client = client(op.client());
                ask(
                        op,
                        client,
                        List.of(call),
                        () -> client.store.breakGrant(text(op.name()), number, now),
                        (yes, at) -> yes(call, yes, at));
            }
            default -> withClaim(op, claimed.get(op.claim()));
        }
    }

    // ---- requests ----

    private void claim(Op op) throws Exception {
        FuzzClient owner = client(op.client());
        Claim claim = new Claim(
                ClaimId.random(),
                List.of(text(op.name())),
                op.wanted(),
                Duration.ofMillis(op.millis()),
                op.verb() == Verb.WAIT,
                floor(op),
                new Holder("fuzz", 7, "thread", "c" + op.claim()));
        Kind kind = claim.waits() ? Kind.WAIT : Kind.CLAIM;
        Call call = call(op.name(), kind, op.claim(), claim.mode(), lease(claim.lease()));
        Claimed mine = new Claimed(op.claim(), owner, op.name(), claim, call);
        claimed.put(op.claim(), mine);
        ask(op, owner, List.of(call), () -> send(mine), (grant, at) -> granted(mine, call, grant, at));
    }

    /** Often none, often the highest number that was seen, seldom one that is far ahead, as a clock set back would leave. */
    private long floor(Op op) {
        long highest = numbers.stream().mapToLong(Numbered::number).max().orElse(0);
        if (op.claim() % 8 == 7 && !target.isSessionBound()) {
            return highest + TimeUnit.HOURS.toMicros(1);
        }
        return op.claim() % 2 == 0 ? 0 : highest;
    }

    /** A claim that waits; one at a time, the next comes when this one is in the queue, as far as that can be seen. */
    private void join(Op op) throws Exception {
        boolean alone = script.inFlight() == 1 && fault == null;
        client(op.client());
        Optional<String> before = alone ? target.fingerprint(prefix) : Optional.empty();
        claim(op);
        long end = System.nanoTime() + QUEUEING;
        while (alone && System.nanoTime() < end && claimed.get(op.claim()).waits()) {
            pass(10);
            if (before.isEmpty() || !target.fingerprint(prefix).equals(before)) {
                return;
            }
        }
    }

    private CompletionStage<Optional<Grant>> send(Claimed mine) {
        Pending pending = mine.owner.store.claim(mine.claim);
        if (mine.claim.waits()) {
            mine.pending = pending;
        }
        return pending.answer();
    }

    private void withClaim(Op op, @Nullable Claimed mine) {
        if (mine == null || !mine.alive()) {
            return;
        }
        if (op.verb() == Verb.CANCEL) {
            cancel(mine);
            return;
        }
        Grant grant = mine.grant;
        if (op.verb() == Verb.WITHDRAW ? names.get(mine.name).open.containsKey(mine.call.id) : grant == null) {
            return;
        }
        Duration lease = Duration.ofMillis(op.millis());
        switch (op.verb()) {
            case WITHDRAW -> {
                Call call = call(mine, Kind.WITHDRAW, 0);
                mine.ended = true;
                ask(
                        op,
                        mine.owner,
                        List.of(call),
                        () -> mine.owner.store.withdraw(mine.claim).thenApply(done -> true),
                        (yes, at) -> yes(call, true, at));
            }
            case RELEASE -> release(op, mine);
            case REPEAT -> {
                boolean asGiven = !mine.broken && mine.mode.equals(mine.claim.mode());
                if (!mine.ended && !mine.waits() && (asGiven || target.repeatsChanged())) {
                    Call call = call(mine, Kind.CLAIM, lease(mine.claim.lease()));
                    Claim again = new Claim(
                            mine.claim.id(),
                            mine.claim.names(),
                            mine.claim.mode(),
                            mine.claim.lease(),
                            false,
                            mine.claim.floor(),
                            mine.claim.holder());
                    ask(
                            op,
                            mine.owner,
                            List.of(call),
                            () -> mine.owner.store.claim(again).answer(),
                            (fresh, at) -> granted(mine, call, fresh, at));
                }
            }
            case RENEW -> renew(op, mine.owner, lease);
            case EXTEND -> {
                Call call = call(mine, Kind.EXTEND, lease(lease));
                ask(
                        op,
                        mine.owner,
                        List.of(call),
                        () -> mine.owner.store.extend(grant.withLease(lease)),
                        (fresh, at) -> extended(mine, call, fresh, at));
            }
            case DOWNGRADE -> {
                Call call = call(mine, Kind.DOWNGRADE, 0);
                ask(op, mine.owner, List.of(call), () -> mine.owner.store.downgrade(grant), (yes, at) -> {
                    yes(call, yes, at);
                    mine.mode = yes ? Mode.SHARED : mine.mode;
                });
            }
            default -> throw new AssertionError(op);
        }
    }

    private void release(Op op, Claimed mine) {
        Call call = call(mine, Kind.RELEASE, 0);
        mine.ended = true;
        Grant grant = mine.grant;
        stats.reach(
                "a renewal crosses a release",
                names.get(mine.name).open.values().stream()
                        .anyMatch(each -> each.kind == Kind.RENEW && each.claim == mine.label));
        ask(op, mine.owner, List.of(call), () -> mine.owner.store.release(grant), (yes, at) -> yes(call, yes, at));
    }

    /** All grants of a client in one batch. */
    private void renew(Op op, FuzzClient owner, Duration lease) {
        List<Claimed> all = claimed.values().stream()
                .filter(each -> each.owner == owner && each.grant != null)
                .toList();
        Map<ClaimId, Call> batch = new HashMap<>();
        for (Claimed each : all) {
            Call call = call(each, Kind.RENEW, lease(lease));
            batch.put(each.claim.id(), call);
            each.validUntil = Math.min(each.validUntil, call.from());
        }
        List<Grant> grants =
                all.stream().map(each -> each.grant.withLease(lease)).toList();
        int doubts = owner.suspected.get();
        ask(
                op,
                owner,
                List.copyOf(batch.values()),
                () -> owner.store.renew(grants),
                (answers, at) -> all.forEach(each -> {
                    Call call = batch.get(each.claim.id());
                    Renewal answer = answers.get(each.claim.id());
                    if (answer == null) {
                        throw new Violation("a renewal without an answer for #" + each.label);
                    }
                    switch (answer.verdict()) {
                        case HELD -> {
                            names.get(each.name).answered(call, true, at, call.from(), "#" + each.label + " renewed");
                            stats.reach("a hold in doubt is confirmed", doubts > 0);
                        }
                        case LOST -> {
                            yes(call, false, at);
                            stats.reach("a renewal finds the lease over", !each.ended);
                            each.ended = true;
                        }
                        case UNKNOWN -> unanswered(call, at, "renewal unknown");
                    }
                }));
    }

    private void cancel(Claimed mine) {
        Pending pending = mine.pending;
        if (pending != null && mine.waits()) {
            mine.call.cancelled = true;
            pending.cancel();
            if (script.inFlight() == 1 && trouble == Script.Trouble.NONE) {
                await(() -> !mine.waits(), "the cancelled claim #" + mine.label);
            }
        }
    }

    private void look(Op op) throws Exception {
        FuzzClient client = client(op.client());
        long sent = System.nanoTime();
        Map<Integer, NameModel.Look> looks = new HashMap<>();
        if (op.verb() == Verb.STATUS) {
            looks.put(op.name(), model(op.name()).look());
            ask(
                    op,
                    client,
                    List.of(),
                    () -> client.store.status(text(op.name())),
                    (seen, at) -> judge(op.name(), looks, seen, sent, at));
        } else {
            names.forEach((name, model) -> looks.put(name, model.look()));
            ask(op, client, List.of(), () -> client.store.list(prefix), (all, at) -> {
                Map<String, LockStatus> seen = new HashMap<>();
                all.forEach(each -> seen.put(each.name(), each));
                looks.keySet().forEach(name -> {
                    LockStatus known = seen.remove(text(name));
                    judge(name, looks, known == null ? LockStatus.free(text(name), 0) : known, sent, at);
                });
                names.keySet().forEach(name -> seen.remove(text(name)));
                if (!seen.isEmpty()) {
                    throw new Violation("listed, and never claimed: " + seen.keySet());
                }
            });
        }
    }

    private void judge(int name, Map<Integer, NameModel.Look> looks, LockStatus seen, long sent, long at) {
        NameModel model = model(name);
        NameModel.Look look = looks.get(name);
        model.seen(
                look, at, state -> model.shows(state, seen, held -> told(seen, held, sent, at), look), "saw " + seen);
    }

    private boolean told(LockStatus seen, NameModel.Held held, long sent, long at) {
        LockStatus.Held told = seen.grant().orElseThrow();
        Claimed mine = claimed.get(held.claim());
        long left = told.leaseLeft().toNanos();
        boolean timely = target.isSessionBound()
                || ((held.to() == NameModel.NEVER || left <= held.to() - sent + TOLERANCE)
                        && (held.from() == 0
                                || left
                                        >= Math.min(held.from() - at - TOLERANCE, 0)
                                                + Math.max(0, held.from() - at - TOLERANCE)));
        return told.mode() == held.mode().kind()
                && told.holder().label().equals("c" + held.claim())
                && (mine == null || mine.grant == null || told.token() == mine.grant.number() * TOKENS_PER_NUMBER)
                && timely;
    }

    // ---- answers ----

    private void granted(Claimed mine, Call call, Optional<Grant> answer, long at) {
        stats.reach("a grant comes after its cancellation", call.cancelled && answer.isPresent());
        if (answer.isEmpty()) {
            yes(call, false, at);
            return;
        }
        Grant grant = answer.get();
        long sent = mine.owner.time.real(grant.sentNanos());
        long from = call.lease == NameModel.NEVER ? NameModel.NEVER : sent + call.lease;
        if (!grant.id().equals(mine.claim.id())
                || !grant.names().equals(mine.claim.names())
                || !(target.isSessionBound() || grant.lease().equals(mine.claim.lease()))
                || (sent < call.sent && !target.isSessionBound())
                || sent > at) {
            throw new Violation("not what was claimed: " + grant + " for " + mine.claim);
        }
        names.get(mine.name).answered(call, true, at, from, "#" + mine.label + " granted, number " + grant.number());
        Grant before = mine.grant;
        boolean again = before != null && before.number() == grant.number();
        stats.reach("a repeated claim keeps its number", again);
        if (before != null && !again && target.repeatsKeepNumbers() && at < mine.validUntil) {
            throw new Violation(
                    "a repeated claim changed its number from " + before.number() + " to " + grant.number());
        }
        mine.grant = grant;
        mine.validUntil = Math.max(mine.validUntil, from);
        if (!again) {
            number(mine, grant.number(), sent, at);
        }
    }

    private void extended(Claimed mine, Call call, Optional<Grant> fresh, long at) {
        yes(call, fresh.isPresent(), at);
        fresh.ifPresent(grant -> {
            number(mine, grant.number(), call.sent, at);
            mine.grant = grant;
        });
    }

    private void number(Claimed mine, long number, long sent, long at) {
        Numbered fresh = new Numbered(mine.name, mine.label, mine.mode, number, sent, at);
        for (Numbered old : numbers) {
            if (fresh.conflicts(old) && old.answered < sent && number <= old.number) {
                throw new Violation("the number fell: " + fresh + " after " + old);
            }
        }
        if (number <= mine.claim.floor()) {
            throw new Violation("the number " + number + " is not above the floor " + mine.claim.floor());
        }
        numbers.add(fresh);
    }

    private void yes(Call call, boolean yes, long at) {
        modelOf(call).answered(call, yes, at, call.from(), call + " answered " + yes);
    }

    private <T> void ask(
            Op op, FuzzClient owner, List<Call> sent, Supplier<CompletionStage<T>> send, BiConsumer<T, Long> judge) {
        drain();
        Asked request = new Asked(owner, sent.stream().anyMatch(call -> call.kind == Kind.WAIT));
        asked.add(request);
        sent.forEach(call -> modelOf(call).sent(call));
        BiConsumer<T, Throwable> answered = (answer, failure) -> {
            long at = System.nanoTime();
            arrived.add(() -> {
                request.done = true;
                log("  " + op + " -> " + (failure == null ? answer : failure));
                if (sent.stream().anyMatch(Call::isLost) || clients().noneMatch(each -> each == owner)) {
                    return; // its client is gone, and nobody hears this
                }
                stats.answers.increment();
                if (failure == null) {
                    judge.accept(answer, at);
                    haunt(sent, at);
                } else {
                    sent.forEach(call -> unanswered(call, at, failure.toString()));
                    checkFailure(failure, op);
                }
            });
        };
        CompletionStage<T> stage = send.get();
        stage.whenComplete(answered);
    }

    private void checkFailure(Throwable failure, Op op) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (trouble == Script.Trouble.NONE || !(cause instanceof StoreUnavailableException)) {
            throw (Violation) new Violation(op + " failed: " + cause).initCause(cause);
        }
    }

    private void unanswered(Call call, long at, String why) {
        if (trouble == Script.Trouble.NONE) {
            throw new Violation(call + " was not answered, and nothing was wrong: " + why);
        }
        modelOf(call).lost(call, at + LATE);
        Claimed mine = claimed.get(call.claim);
        if (mine != null && mine.call == call) {
            mine.unknown = true;
        }
    }

    /** On a bad wire a request may have been sent twice, and the second copy come late. */
    private void haunt(List<Call> sent, long at) {
        for (Call call : sent) {
            Claimed mine = claimed.get(call.claim);
            if (mine != null
                    && (call.kind == Kind.CLAIM || call.kind == Kind.WAIT)
                    && (mine.owner.wasHarmed(call.sent, at) || (serverFailedAt >= call.sent && serverFailedAt <= at))) {
                Call copy = call(mine, Kind.CLAIM, lease(mine.claim.lease()));
                copy.ghost = true;
                modelOf(call).sent(copy);
                modelOf(call).lost(copy, at + LATE);
            }
        }
    }

    // ---- faults ----

    private void leave(Op op) throws InterruptedException {
        FuzzClient client = clients[op.client()];
        if (client == null) {
            return;
        }
        drain();
        clients[op.client()] = null;
        killed = true;
        long latest = System.nanoTime() + target.passesTheDead().toNanos();
        for (NameModel model : names.values()) {
            model.open.values().stream()
                    .filter(call -> !call.isLost() && claimed.containsKey(call.claim))
                    .filter(call -> claimed.get(call.claim).owner == client)
                    .forEach(call -> model.lost(call, latest));
            if (target.isSessionBound()) {
                model.sessionEnds(label -> isOf(label, client), System.nanoTime(), latest);
            }
        }
        asked.stream().filter(each -> each.owner == client).forEach(each -> each.done = true);
        if (op.verb() == Verb.KILL) {
            client.kill();
        } else {
            client.close();
        }
    }

    private boolean isOf(int label, FuzzClient client) {
        Claimed mine = claimed.get(label < 0 ? -label - 1 : label);
        return mine != null && mine.owner == client;
    }

    private void crash() {
        if (target.process().isEmpty()) {
            return;
        }
        stats.planned.increment();
        stats.bitten.increment();
        beforeKilling();
        serverFailedAt = System.nanoTime();
        target.process().get().kill();
        restart(target.process().get());
        if (target.isSessionBound()) {
            long latest = System.nanoTime() + target.passesTheDead().toNanos();
            names.values()
                    .forEach(model -> model.sessionEnds(
                            label -> claimed.containsKey(label)
                                    && !claimed.get(label).alive(),
                            System.nanoTime(),
                            latest));
        }
    }

    private void beforeKilling() {
        try {
            target.beforeKilling();
        } catch (Exception e) {
            throw new IllegalStateException("the server cannot be made ready to be killed", e);
        }
    }

    /** Some servers will not start while the rest of them is still dying. */
    private static void restart(ServerProcess server) {
        for (int tries = 1; ; tries++) {
            try {
                server.restart();
                return;
            } catch (AssertionError e) {
                if (tries == 5) {
                    throw new IllegalStateException("the server does not start again", e);
                }
            }
        }
    }

    /** Lets a fault work on the request that was sent under it, and ends it. */
    private void endFault(Op op) {
        Op ending = fault;
        if (ending == null) {
            return;
        }
        fault = null;
        if (ending.verb() == Verb.STOP) {
            endStop(ending);
        } else {
            endOnWire(ending);
        }
        await(() -> inFlight() < script.inFlight(), "an answer to " + op);
    }

    private void endOnWire(Op ending) {
        FuzzClient client = clients[ending.client()];
        if (client == null) {
            return;
        }
        boolean used = asked.stream().anyMatch(each -> each.owner == client && each.sent >= faultBegun);
        long patience = System.nanoTime() + BITE;
        while (used && !client.hasBitten(ending) && System.nanoTime() < patience && inFlight() > 0) {
            pass(1);
        }
        boolean bit = client.hasBitten(ending);
        pass(ending.verb() == Verb.DROP || ending.verb() == Verb.CUT ? 0 : ending.millis());
        client.heal();
        if (used) {
            stats.planned.increment();
            stats.bitten.add(bit ? 1 : 0);
            log("  the fault " + (bit ? "bit" : "did not bite"));
        }
    }

    private void endStop(Op ending) {
        long stopped = System.nanoTime();
        serverFailedAt = stopped;
        List<Claimed> waiting = claimed.values().stream().filter(Claimed::waits).toList();
        pass(ending.millis());
        target.process().ifPresent(process -> process.cont());
        stats.bitten.increment();
        boolean long_ = ending.millis() >= target.wordOfAnOutage().toMillis();
        for (Claimed each : waiting) {
            if (long_ && each.waits() && each.owner.unreachableAt < stopped) {
                throw new Violation("the server stood still for " + ending.millis() + " ms, and the listener of #"
                        + each.label + ", which waited, was not told");
            }
        }
    }

    // ---- the end ----

    /** All that live finish what they began, one after the other; then everything must be free. */
    private void settle() throws Exception {
        log("settling");
        await(() -> inFlight() == 0, "the last answers");
        for (Claimed each : List.copyOf(claimed.values())) {
            if (each.unknown && each.alive() && !each.ended) {
                withClaim(op(each, Verb.WITHDRAW), each);
            }
        }
        await(() -> inFlight() == 0, "the withdrawals");
        for (int name : names.keySet()) {
            settle(name);
        }
        for (int name : List.copyOf(names.keySet())) {
            claimAll(name);
        }
    }

    private void settle(int name) throws Exception {
        while (true) {
            keepAll();
            List<Claimed> waiting = all(name).filter(Claimed::waits).toList();
            List<Claimed> holding = all(name).filter(Claimed::holds).toList();
            if (waiting.isEmpty() && holding.isEmpty()) {
                return;
            }
            if (!waiting.isEmpty() && waiting.stream().allMatch(each -> fits(each, holding))) {
                int before = waiting.size();
                awaitWithin(
                        name,
                        holding,
                        () -> all(name).filter(Claimed::waits).count() < before,
                        "the lock to be granted to one of " + labels(waiting) + " beside " + labels(holding));
            } else if (holding.isEmpty()) {
                throw new AssertionError("nobody holds, and somebody does not fit");
            } else {
                release(op(holding.get(0), Verb.RELEASE), holding.get(0));
                await(() -> inFlight() == 0, "a release");
            }
        }
    }

    private void keepAll() {
        clients().forEach(owner -> {
            if (claimed.values().stream().anyMatch(each -> each.owner == owner && each.holds())) {
                renew(new Op(0, Verb.RENEW, 0, 0, "-", KEPT.toMillis()), owner, KEPT);
            }
        });
        await(() -> inFlight() == 0, "renewals");
    }

    private Stream<FuzzClient> clients() {
        return Stream.of(clients).filter(Objects::nonNull);
    }

    private static List<Integer> labels(List<Claimed> all) {
        return all.stream().map(each -> each.label).toList();
    }

    private Stream<Claimed> all(int name) {
        return List.copyOf(claimed.values()).stream().filter(each -> each.name == name);
    }

    private static boolean fits(Claimed one, List<Claimed> holding) {
        if (one.claim.mode() instanceof Mode.Permits wanted) {
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
                || (one.claim.mode() == Mode.SHARED && holding.stream().allMatch(each -> each.mode == Mode.SHARED));
    }

    /** Nobody is left: a newcomer gets the whole lock, and after that nothing is there. */
    private void claimAll(int name) throws Exception {
        int label = 10_000 + name;
        awaitWithin(
                name,
                List.of(),
                () -> {
                    try {
                        claim(new Op(0, Verb.TRY, name, label, "X", KEPT.toMillis()));
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                    await(() -> inFlight() == 0, "the last claim");
                    return claimed.get(label).holds();
                },
                "the whole lock for a newcomer");
        log("all of " + name + " is claimed");
        release(op(claimed.get(label), Verb.RELEASE), claimed.get(label));
        await(() -> inFlight() == 0, "the last release");
        long end = System.nanoTime() + target.passesTheDead().toNanos() + SLACK;
        while (true) {
            CompletionStage<LockStatus> last = client(0).store.status(text(name));
            LockStatus status = last.toCompletableFuture().get(PATIENCE, TimeUnit.NANOSECONDS);
            if (!status.isHeld() && status.waiting() == 0) {
                return;
            }
            if (System.nanoTime() > end) {
                throw new Violation("everything was given back, and there is " + status);
            }
            pass(20);
        }
    }

    private void awaitWithin(int name, List<Claimed> holding, BooleanSupplier condition, String what) {
        List<Integer> known = labels(holding);
        long dead = Math.max(0, names.get(name).latestEnd(known::contains) - System.nanoTime());
        long most = dead + target.passesTheDead().toNanos() + SLACK;
        long end = System.nanoTime() + most;
        long keep = System.nanoTime() + KEPT.toNanos() / 3;
        while (!condition.getAsBoolean()) {
            drain();
            if (System.nanoTime() > end) {
                throw new Violation("no progress within " + most / 1_000_000 + " ms: " + what);
            }
            if (System.nanoTime() > keep) {
                keepAll();
                keep = System.nanoTime() + KEPT.toNanos() / 3;
            }
            pass(5);
        }
    }

    // ---- small things ----

    private static Op op(Claimed mine, Verb verb) {
        return new Op(0, verb, mine.name, mine.label, "-", 0);
    }

    /** Runs a request that reads, or fails; it must leave everything as it was. */
    private void neutrally(Op op, Body body) throws Exception {
        boolean alone = trouble == Script.Trouble.NONE
                && !killed
                && inFlight() == 0
                && claimed.values().stream().noneMatch(Claimed::waits);
        client(op.client());
        Optional<String> before = alone ? target.fingerprint(prefix) : Optional.empty();
        body.run();
        if (before.isEmpty()) {
            return;
        }
        await(() -> inFlight() == 0, "an answer to " + op);
        Claimed mine = claimed.get(op.claim());
        if (op.verb() == Verb.TRY && mine != null && mine.grant != null) {
            return;
        }
        String after = target.fingerprint(prefix).orElse("");
        stats.reach("a read that changed nothing", true);
        if (!after.equals(before.get())) {
            throw new Violation(
                    op + " only reads, and changed what is stored from\n    " + before.get() + "\n  to\n    " + after);
        }
    }

    private interface Body {
        void run() throws Exception;
    }

    private FuzzClient client(int number) throws Exception {
        FuzzClient known = clients[number];
        for (int tries = 1; known == null; tries++) {
            try {
                known = new FuzzClient(target, number);
                clients[number] = known;
            } catch (StoreUnavailableException e) {
                if (tries == 5) {
                    throw e; // the machine is not that slow
                }
            }
        }
        return known;
    }

    private void openAll() throws Exception {
        for (int i = 0; i < clients.length; i++) {
            client(i);
        }
    }

    private NameModel model(int name) {
        return names.computeIfAbsent(
                name,
                absent -> new NameModel(target.isExtendable(), !target.isSessionBound(), target.isSessionBound()));
    }

    private NameModel modelOf(Call call) {
        return model(call.name);
    }

    private Call call(int name, Kind kind, int claim, Mode mode, long lease) {
        model(name);
        boolean session = target.isSessionBound() && lease > 0;
        long least = session
                ? trouble == Script.Trouble.NONE
                        ? NameModel.NEVER
                        : target.session().toNanos()
                : lease;
        return new Call(calls++, name, kind, claim, mode, least, session, System.nanoTime());
    }

    private Call call(Claimed mine, Kind kind, long lease) {
        return call(mine.name, kind, mine.label, mine.claim.mode(), lease);
    }

    private static long lease(Duration lease) {
        return lease.toNanos();
    }

    private String text(int name) {
        return prefix + name;
    }

    private long inFlight() {
        return asked.stream().filter(each -> !each.done && !each.waits).count();
    }

    private void drain() {
        for (Runnable next = arrived.poll(); next != null; next = arrived.poll()) {
            next.run();
        }
    }

    private void pass(long millis) {
        long end = System.nanoTime() + millis * 1_000_000;
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            takeOne(left);
        }
        drain();
    }

    private void takeOne(long nanos) {
        try {
            Runnable next = arrived.poll(nanos, TimeUnit.NANOSECONDS);
            if (next != null) {
                next.run();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    private void await(BooleanSupplier condition, String what) {
        long end = System.nanoTime() + PATIENCE;
        drain();
        while (!condition.getAsBoolean()) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                throw new Violation("no answer within " + PATIENCE / 1_000_000_000 + " s: " + what);
            }
            takeOne(Math.min(left, 100_000_000));
        }
    }

    private void log(String line) {
        log.add(String.format("%7.1f ms  %s", (System.nanoTime() - begun) / 1e6, line));
    }
}
