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
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The one server: the real {@link MemoryStore} behind a protocol such as a store over a network needs.
 *
 * <pre>
 *   claim ──► GRANTED(number)                          free, or the claim has it already
 *         ──► NOT_FREE                                 it does not wait
 *         ──► QUEUED ··· its turn ··► offer pushed ──► claim again, which confirms ──► GRANTED
 *                                        └─ not confirmed soon ──► passed on
 * </pre>
 *
 * <p>It may stand still for a while, and it may restart: then it forgets who waits and every offer, and keeps who holds.
 */
final class Server implements World.Owner {
    /** What it answers to a claim. */
    record Reply(Kind kind, long number) {
        enum Kind {
            GRANTED,
            QUEUED,
            NOT_FREE
        }
    }

    /** One client's connection. */
    final class Connection {
        final String client;
        private final Consumer<ClaimId> offer;
        private final Consumer<ClaimId> gone;
        private Store store;

        private Connection(String client, Consumer<ClaimId> offer, Consumer<ClaimId> gone) {
            this.client = client;
            this.offer = offer;
            this.gone = gone;
            this.store = memory.open(time);
        }
    }

    private final World world;
    final Clock clock;
    final Ledger ledger;
    private final TimeSource time;
    private final MemoryStore memory;
    private final Store eye;
    private final Duration offerWindow;
    private final List<Connection> connections = new ArrayList<>();
    private final Map<ClaimId, Pending> waiting = new HashMap<>();
    private final Map<ClaimId, Grant> offers = new HashMap<>();
    private final Map<ClaimId, Connection> owners = new HashMap<>();
    /** Grants that came out of the queue by what is being done: they are noted after it. */
    private final List<Runnable> outOfQueue = new ArrayList<>();

    private long standsUntil;
    private boolean down;

    Server(World world, Duration offerWindow) {
        this.world = world;
        this.offerWindow = offerWindow;
        this.clock = new Clock(world);
        this.ledger = new Ledger(world.judge, clock);
        this.time = withAfterword(clock.as(this));
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
            connections.forEach(connection -> connection.store = memory.open(time));
        });
    }

    // ---- what it is asked ----

    /**
     * @param offer how it pushes an offer to this client
     * @param gone how it tells, unasked, that a grant of this client is gone
     */
    Connection connect(String client, Consumer<ClaimId> offer, Consumer<ClaimId> gone) {
        Connection connection = new Connection(client, offer, gone);
        connections.add(connection);
        return connection;
    }

    /** A client leaves: it waits no more. What it sent before may still arrive. */
    void disconnect(Connection connection) {
        operate("", () -> {
            connection.store.close();
            connection.store = memory.open(time);
        });
    }

    void claim(Connection from, Claim claim, Consumer<Reply> reply) {
        ClaimId id = claim.id();
        owners.put(id, from);
        if (waiting.containsKey(id)) {
            reply.accept(new Reply(Reply.Kind.QUEUED, 0));
            return;
        }
        operate(claim.name(), () -> {
            Pending pending = from.store.claim(claim);
            var answer = pending.answer().toCompletableFuture();
            if (!answer.isDone()) {
                waiting.put(id, pending);
                answer.whenComplete((grant, closed) -> leftQueue(from, claim, grant));
                reply.accept(new Reply(Reply.Kind.QUEUED, 0));
                return;
            }
            Grant grant =
                    answer.isCompletedExceptionally() ? null : answer.join().orElse(null);
            if (grant == null) {
                reply.accept(new Reply(Reply.Kind.NOT_FREE, 0));
                return;
            }
            flush(); // those before it in the queue, if it came together with them
            ledger.granted(claim, grant.number());
            if (offers.remove(id) != null) {
                world.counts.add(Happening.OFFER_CONFIRMED);
            }
            note(() -> "grants " + claim.name() + " to " + Ids.of(id) + ", number " + number(grant));
            reply.accept(new Reply(Reply.Kind.GRANTED, grant.number()));
        });
    }

    private void leftQueue(Connection from, Claim claim, @Nullable Optional<Grant> answer) {
        waiting.remove(claim.id());
        Grant grant = answer == null ? null : answer.orElse(null);
        if (grant == null) {
            return;
        }
        outOfQueue.add(() -> {
            ledger.granted(claim, grant.number());
            offer(from, claim, grant);
        });
    }

    private void offer(Connection to, Claim claim, Grant grant) {
        world.counts.add(Happening.OFFERED);
        note(() -> "offers " + claim.name() + " to " + Ids.of(claim.id()) + ", number " + number(grant));
        offers.put(claim.id(), grant);
        to.offer.accept(claim.id());
        time.schedule(
                () -> {
                    if (offers.remove(claim.id(), grant)) {
                        world.counts.add(Happening.OFFER_PASSED_ON);
                        note(() -> "passes on the offer to " + Ids.of(claim.id()));
                        release(to, grant, released -> {});
                    }
                },
                offerWindow);
    }

    /** Whether the claim was waiting, and does no more. */
    void cancel(Claim claim, Consumer<Boolean> reply) {
        operate(claim.name(), () -> {
            Pending pending = waiting.get(claim.id());
            if (pending != null) {
                pending.cancel();
            }
            reply.accept(pending != null);
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
            offers.remove(claim.id());
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
            world.counts.add(immediately ? Happening.BROKEN_NOW : Happening.BROKEN);
            note(() -> "breaks " + name + (immediately ? " at once" : ""));
            reply.accept(held);
        });
    }

    /** A token of the grant that somebody may have seen. */
    Optional<Long> shown(String name) {
        return status(name).grant().map(LockStatus.Held::token);
    }

    LockStatus status(String name) {
        return now(eye.status(name));
    }

    /** Everything that is held or waited for. */
    List<LockStatus> list() {
        return now(eye.list(""));
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
            ledger.compare(name, status(name).isHeld());
        }
    }

    /** The server's own timers end leases, too. */
    private TimeSource withAfterword(TimeSource plain) {
        return new TimeSource() {
            @Override
            public long nanoTime() {
                return plain.nanoTime();
            }

            @Override
            public long wallMillis() {
                return plain.wallMillis();
            }

            @Override
            public Scheduled schedule(Runnable task, Duration delay) {
                return plain.schedule(
                        () -> {
                            task.run();
                            flush();
                        },
                        delay);
            }
        };
    }

    private static <T> T now(CompletionStage<T> answer) {
        return answer.toCompletableFuture().join();
    }

    private static long number(Grant grant) {
        return grant.number() % 1_000_000_000L;
    }

    private void note(java.util.function.Supplier<String> what) {
        world.timeline.note("server", what);
    }
}
