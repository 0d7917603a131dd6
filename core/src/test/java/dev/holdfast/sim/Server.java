package dev.holdfast.sim;

import dev.holdfast.LockStatus;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.Asked;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The one server: the real {@link MemoryStore} behind a protocol such as a store over a network needs.
 *
 * <pre>
 *   claim ──► GRANTED(number)                          free, or the claim has it already
 *         ──► NOT_FREE                                 it does not wait
 *         ──► QUEUED ··· its turn ··► offer pushed ──► claim again, which confirms ──► GRANTED
 *                                        └─ not confirmed soon ──► passed on
 *         a waiting claim that is not sent again for a lease ──► leaves the queue
 * </pre>
 *
 * <p>It may stand still for a while, and it may restart: then it forgets who waits and every offer, and keeps who holds.
 */
final class Server implements World.Owner {
    /** How much longer than a lease a place in the queue counts without a word from its client. */
    private static final Duration WORD_ON_THE_WAY = Duration.ofMillis(50);

    /** A claim in the store's queue. */
    private static final class Queued {
        final Claim claim;
        final Pending pending;
        /** By the server's clock. */
        long aliveUntil;

        Queued(Claim claim, Pending pending) {
            this.claim = claim;
            this.pending = pending;
        }
    }

    private final World world;
    final Clock clock;
    final Ledger ledger;
    private final TimeSource time;
    private MemoryStore memory;
    private Store eye;
    private final List<Connection> connections = new ArrayList<>();
    private final Map<ClaimId, Queued> waiting = new LinkedHashMap<>();
    private final Offers offers;
    private final Map<ClaimId, Connection> owners = new HashMap<>();
    /** Grants that came out of the queue by what is being done: they are noted after it. */
    private final List<Runnable> outOfQueue = new ArrayList<>();

    private long standsUntil;
    private boolean down;

    Server(World world, Duration offerWindow) {
        this.world = world;
        this.clock = new Clock(world);
        this.ledger = new Ledger(world.judge, clock);
        this.time = new Afterword(clock.as(this), this::flush);
        this.offers = new Offers(this, world, time, offerWindow);
        this.memory = new MemoryStore(time);
        this.eye = memory.open(time);
    }

    @Override
    public long runsAt(long now) {
        return Math.max(now, standsUntil);
    }

    // ---- what befalls it ----

    void pauseFor(long nanos) {
        world.counts.add(Happening.SERVER_PAUSED);
        world.timeline.note("server", () -> "stands still for " + nanos / 1_000_000 + " ms");
        standsUntil = world.now() + nanos;
    }

    /** Down for a while; everything that arrives meanwhile is lost, and so is who waited. */
    void restartAfter(long nanos) {
        restartAfter(nanos, () -> {});
    }

    /**
     * It loses all that it knew as well.
     *
     * @param tooSoon whether leases given before may last longer than it is down: their holders are not safe then
     */
    void restartEmptyAfter(long nanos, boolean tooSoon) {
        restartAfter(nanos, () -> {
            world.counts.add(tooSoon ? Happening.SERVER_FORGOT_TOO_SOON : Happening.SERVER_FORGOT);
            note(() -> "comes up, and knows nothing");
            ledger.forget(tooSoon);
            memory = new MemoryStore(time);
            eye = memory.open(time);
        });
    }

    private void restartAfter(long nanos, Runnable first) {
        if (down) {
            return;
        }
        world.counts.add(Happening.SERVER_RESTARTED);
        world.timeline.note("server", () -> "goes down for " + nanos / 1_000_000 + " ms and forgets who waits");
        down = true;
        offers.clear();
        connections.forEach(connection -> connection.store.close());
        waiting.clear();
        flush();
        world.after(nanos, World.NATURE, () -> {
            down = false;
            first.run();
            connections.forEach(connection -> connection.use(memory.open(time)));
        });
    }

    /** Its clock is set; where that is forward its leases end too soon, and their holders are not safe. */
    void stepClock(long nanos) {
        world.counts.add(nanos > 0 ? Happening.SERVER_CLOCK_SET_FORWARD : Happening.SERVER_CLOCK_SET_BACK);
        note(() -> "has its clock set by " + nanos / 1_000_000 + " ms");
        forgetWhatRanOut();
        if (nanos > 0) {
            ledger.endangerAll();
        }
        clock.step(nanos);
    }

    /** By the clock as it was: the store may have found that a lease is over, and the ledger not have been asked yet. */
    private void forgetWhatRanOut() {
        long noNumber = -1;
        ledger.known().forEach(name -> operate(name, () -> now(eye.breakGrant(name, noNumber, true))));
    }

    // ---- what it is asked ----

    /**
     * @param offer how it pushes an offer to this client
     * @param gone how it tells, unasked, that a grant of this client is gone
     * @param wanted how it tells that others wait for a grant of this client
     */
    Connection connect(String client, Consumer<ClaimId> offer, Consumer<ClaimId> gone, Consumer<ClaimId> wanted) {
        Connection connection = new Connection(client, offer, gone, wanted, memory.open(time));
        connections.add(connection);
        return connection;
    }

    /** A client leaves: it waits no more. What it sent before may still arrive. */
    void disconnect(Connection connection) {
        operate("", () -> {
            connection.store.close();
            connection.use(memory.open(time));
        });
    }

    void claim(Connection from, Claim claim, Consumer<Reply> reply) {
        ClaimId id = claim.id();
        owners.put(id, from);
        Queued place = waiting.get(id);
        if (place != null) {
            place.aliveUntil = time.nanoTime() + life(claim).toNanos();
            reply.accept(new Reply(Reply.Kind.QUEUED, 0));
            return;
        }
        operate(claim.name(), () -> {
            Asked pending = Asked.of(from.store, claim);
            var answer = pending.answer();
            if (!answer.isDone()) {
                Queued queued = new Queued(claim, pending);
                queued.aliveUntil = time.nanoTime() + life(claim).toNanos();
                waiting.put(id, queued);
                passOverTheDead(queued);
                answer.whenComplete((grant, closed) -> leftQueue(from, claim, grant));
                reply.accept(new Reply(Reply.Kind.QUEUED, 0));
                return;
            }
            Grant grant =
                    answer.isCompletedExceptionally() ? null : answer.join().orElse(null);
            if (grant == null) {
                flush(); // it may have gone to one in the queue in this moment
                if (!ledger.isInTheWay(claim) && waitingFor(claim.name()) == 0) {
                    world.judge.broken(Rule.BUSY, "the store refuses " + Ids.of(claim.id()) + ", though it is free");
                }
                reply.accept(new Reply(Reply.Kind.NOT_FREE, 0));
                return;
            }
            flush(); // those before it in the queue, if it came together with them
            ledger.granted(claim, grant.number());
            offers.confirm(id);
            note(() -> "grants " + claim.name() + " to " + Ids.of(id) + ", number " + number(grant));
            reply.accept(new Reply(Reply.Kind.GRANTED, grant.number()));
        });
    }

    private static Duration life(Claim claim) {
        return claim.lease().plus(WORD_ON_THE_WAY);
    }

    /** Takes it out of the queue once its client has not asked again for long enough. */
    private void passOverTheDead(Queued queued) {
        long left = queued.aliveUntil - time.nanoTime();
        if (left > 0) {
            time.schedule(() -> passOverTheDead(queued), Duration.ofNanos(left));
        } else if (waiting.get(queued.claim.id()) == queued) {
            world.counts.add(Happening.PLACE_RAN_OUT);
            note(() -> "passes over " + Ids.of(queued.claim.id()) + ", which has not asked again");
            operate(queued.claim.name(), queued.pending::cancel);
        }
    }

    private void leftQueue(Connection from, Claim claim, @Nullable Optional<Grant> answer) {
        waiting.remove(claim.id());
        Grant grant = answer == null ? null : answer.orElse(null);
        if (grant == null) {
            return;
        }
        outOfQueue.add(() -> {
            ledger.granted(claim, grant.number());
            offers.make(from, claim, grant);
        });
    }

    /** Whether the claim was waiting, and does no more. */
    void cancel(Claim claim, Consumer<Boolean> reply) {
        operate(claim.name(), () -> {
            Queued queued = waiting.get(claim.id());
            if (queued != null) {
                queued.pending.cancel();
            }
            reply.accept(queued != null);
        });
    }

    void renew(Connection from, List<Grant> grants, Consumer<Map<ClaimId, Renewal>> reply) {
        Map<ClaimId, Renewal> held = new HashMap<>();
        operate("", () -> {
            Map<ClaimId, Renewal> verdicts = now(from.store.renew(grants));
            for (Grant grant : grants) {
                boolean stands = verdicts.get(grant.id()).verdict() == Renewal.Verdict.HELD;
                ledger.renewed(grant, stands);
                world.counts.add(stands ? Happening.RENEWED : Happening.RENEWAL_REFUSED);
                note(() -> (stands ? "renews " : "refuses to renew ") + grant.name() + " of " + Ids.of(grant.id())
                        + " for " + grant.lease().toMillis() + " ms");
                held.put(grant.id(), verdicts.get(grant.id()));
            }
        });
        grants.forEach(grant -> compare(grant.name()));
        reply.accept(held);
    }

    void extend(Connection from, Grant grant, Consumer<Optional<Long>> reply) {
        operate(grant.name(), () -> {
            Optional<Grant> fresh = now(from.store.extend(grant));
            fresh.ifPresent(given -> ledger.renumbered(grant, given.number()));
            world.counts.add(fresh.isPresent() ? Happening.REFRESHED_NUMBER : Happening.REFRESH_REFUSED);
            note(() -> (fresh.isPresent() ? "gives a fresh number to " : "refuses a fresh number to ")
                    + Ids.of(grant.id()));
            reply.accept(fresh.map(Grant::number));
        });
    }

    void watch(Connection from, Grant grant, Consumer<Boolean> reply) {
        operate(grant.name(), () -> {
            boolean contended = now(from.store.watch(grant));
            note(() -> "watches " + grant.name() + " for " + Ids.of(grant.id()) + (contended ? ", wanted" : ""));
            reply.accept(contended);
        });
    }

    void downgrade(Connection from, Grant grant, Consumer<Boolean> reply) {
        operate(grant.name(), () -> {
            boolean loosened = now(from.store.downgrade(grant));
            ledger.loosened(grant, loosened);
            world.counts.add(loosened ? Happening.LOOSENED : Happening.NOT_LOOSENED);
            note(() -> (loosened ? "lets readers in beside " : "does not loosen ") + Ids.of(grant.id()));
            reply.accept(loosened);
        });
    }

    void release(Connection from, Grant grant, Consumer<Boolean> reply) {
        operate(grant.name(), () -> {
            boolean held = now(from.store.release(grant));
            ledger.released(grant.name(), grant.id(), held);
            note(() -> (held ? "takes back " : "has no more ") + grant.name() + " of " + Ids.of(grant.id()));
            reply.accept(held);
        });
    }

    void withdraw(Connection from, Claim claim, Runnable reply) {
        operate(claim.name(), () -> {
            now(from.store.withdraw(claim).thenApply(nothing -> true));
            ledger.withdrawn(claim.name(), claim.id());
            offers.forget(claim.id());
            world.counts.add(Happening.WITHDRAWN);
            note(() -> "clears what " + Ids.of(claim.id()) + " left");
            reply.run();
        });
    }

    void breakGrant(String name, long number, boolean immediately, boolean asked, Consumer<Boolean> reply) {
        operate(name, () -> {
            List<ClaimId> holders = ledger.broken(name, number, immediately, asked);
            if (immediately && !holders.isEmpty() && world.dice.percent(50)) {
                holders.forEach(holder -> owners.get(holder).gone.accept(holder));
            }
            boolean held = now(eye.breakGrant(name, number, immediately));
            if (held == holders.isEmpty()) {
                world.judge.broken(Rule.EXACT, "a break of " + name + " was answered " + held);
            }
            world.counts.add(immediately ? Happening.BROKEN_NOW : Happening.BROKEN);
            note(() -> "breaks " + name + (immediately ? " at once" : ""));
            reply.accept(held);
        });
    }

    /** What a client is shown of a name: what is so, and asking has changed nothing. */
    LockStatus status(String name) {
        return look(() -> List.of(now(eye.status(name)))).get(0);
    }

    /** Everything that is held or waited for. */
    List<LockStatus> list() {
        List<LockStatus> all = look(() -> now(eye.list("")));
        ledger.names().stream()
                .filter(name -> all.stream().noneMatch(status -> status.name().equals(name)))
                .forEach(name -> world.judge.broken(Rule.EXACT, "the list leaves out " + name));
        return all;
    }

    private List<LockStatus> look(Supplier<List<LockStatus>> question) {
        String before = ledger + " " + waiting.keySet() + offers;
        List<LockStatus> first = question.get();
        first.forEach(status -> ledger.compare(status, waitingFor(status.name())));
        if (!first.equals(question.get()) || !before.equals(ledger + " " + waiting.keySet() + offers)) {
            world.judge.broken(Rule.EXACT, "asking about " + first + " changed something");
        }
        return first;
    }

    private int waitingFor(String name) {
        return (int) waiting.values().stream()
                .filter(queued -> queued.claim.name().equals(name))
                .count();
    }

    /** The claims that it has granted, or that wait. */
    Set<ClaimId> standing() {
        Set<ClaimId> all = new LinkedHashSet<>(waiting.keySet());
        ledger.names().forEach(name -> all.addAll(ledger.holders(name)));
        return all;
    }

    boolean isDown() {
        return down;
    }

    // ---- one step at a time ----

    /** Does something, then notes who came out of the queue by it, then compares store and ledger. */
    private void operate(String name, Runnable step) {
        if (down) {
            return;
        }
        step.run();
        flush();
        compare(name);
    }

    private void flush() {
        while (!outOfQueue.isEmpty()) {
            outOfQueue.remove(0).run();
        }
    }

    private void compare(String name) {
        if (!name.isEmpty()) {
            ledger.compare(now(eye.status(name)), waitingFor(name));
        }
    }

    private static <T> T now(CompletionStage<T> answer) {
        return answer.toCompletableFuture().join();
    }

    static long number(Grant grant) {
        return grant.number() % 1_000_000_000L;
    }

    private void note(Supplier<String> what) {
        world.timeline.note("server", what);
    }
}
