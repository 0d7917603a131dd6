package dev.holdfast.sim;

import dev.holdfast.Capabilities;
import dev.holdfast.ClientClosedException;
import dev.holdfast.LockStatus;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * The store as a client sees it: requests over a {@link Link}, stamped before they are sent, failed when no answer comes
 * in time. What an engine asks of it is shown to the judge.
 */
final class RemoteStore implements Store {
    private static final int MOST_GATHERING_NANOS = 200_000;

    final World world;
    final Client client;
    final Link link;
    final Server server;
    final Connection connection;
    final TimeSource time;
    final Setting setting;
    private final Map<ClaimId, RemoteClaim> claims = new HashMap<>();
    private final Set<Answer<?>> asked = new LinkedHashSet<>();
    final Map<ClaimId, Grant> granted = new LinkedHashMap<>();
    private StoreListener listener;
    private boolean closed;
    private long heardAt;

    RemoteStore(World world, Client client, Link link, Server server, Setting setting, TimeSource time) {
        this.world = world;
        this.client = client;
        this.link = link;
        this.server = server;
        this.setting = setting;
        this.time = time;
        this.heardAt = time.nanoTime() - Duration.ofDays(1).toNanos();
        this.connection = server.connect(client.name(), this::pushOffer, this::pushLost, this::pushWanted);
    }

    @Override
    public String description() {
        return "sim:";
    }

    @Override
    public Capabilities capabilities() {
        return Capabilities.least()
                .pushes(true)
                .fair(true)
                .ordered(setting.ordered())
                .wanted(setting.retains())
                .extendable(setting.extendable());
    }

    @Override
    public void listen(StoreListener engine) {
        listener = engine;
    }

    // ---- claims ----

    @Override
    public Pending claim(Claim claim, dev.holdfast.spi.Answer answer) {
        called();
        world.judge.claims(client, claim);
        RemoteClaim made = new RemoteClaim(this, claim, answer);
        claims.put(claim.id(), made);
        if (closed) {
            made.fail(closedException());
        } else {
            made.send();
        }
        return made;
    }

    /** What is to be sent is gathered for a moment. */
    @Override
    public void beforeSending(String name, Runnable task) {
        called();
        if (closed) {
            task.run();
        } else {
            time.schedule(task, Duration.ofNanos(world.dice.below(MOST_GATHERING_NANOS)));
        }
    }

    /** On the server's side: sends the offer on its way. */
    private void pushOffer(ClaimId id) {
        link.toClient(client, "offer to " + Ids.of(id), () -> {
            RemoteClaim claim = claims.get(id);
            if (claim != null && !closed) {
                claim.offered();
            }
        });
    }

    // ---- grants ----

    @Override
    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        called();
        List<Grant> each = List.copyOf(grants);
        each.forEach(grant -> world.judge.renews(client, grant));
        long sent = time.nanoTime();
        Answer<Map<ClaimId, Renewal>> reply = this.<Map<ClaimId, Renewal>>ask(
                "renew " + each.size(), true, answer -> server.renew(connection, each, answer));
        reply.whenComplete((held, failure) -> {
            if (failure != null) {
                world.counts.add(Happening.RENEWAL_UNANSWERED);
            }
        });
        boolean says = world.dice.percent(50);
        return reply.handle((held, failure) -> {
            Map<ClaimId, Renewal> verdicts = new HashMap<>();
            for (Grant grant : each) {
                if (failure == null) {
                    verdicts.put(grant.id(), heard(grant, held.get(grant.id()), sent));
                } else if (says) {
                    verdicts.put(grant.id(), Renewal.unknown(sent));
                } else {
                    throw (RuntimeException) failure;
                }
            }
            return verdicts;
        });
    }

    @Override
    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        called();
        long sent = time.nanoTime();
        return this.<Optional<Long>>ask(
                        "fresh number for " + Ids.of(grant.id()),
                        true,
                        answer -> server.extend(connection, grant, answer))
                .thenApply(number -> number.map(
                        fresh -> new Grant(grant.id(), grant.name(), grant.mode(), grant.lease(), fresh, sent)));
    }

    /** What the server said, with the time by this client's clock. */
    private Renewal heard(Grant grant, Renewal said, long sent) {
        if (said.verdict() != Renewal.Verdict.HELD) {
            return Renewal.lost(sent);
        }
        if (!said.contended()) {
            world.judge.heardNobodyWaits(client, grant);
        }
        return Renewal.held(sent, said.contended());
    }

    @Override
    public CompletionStage<Boolean> watch(Grant grant) {
        called();
        return ask("watch " + Ids.of(grant.id()), answer -> server.watch(connection, grant, answer));
    }

    /** On the server's side: says that others wait for this one. */
    private void pushWanted(ClaimId id) {
        link.toClient(client, "wanted is " + Ids.of(id), () -> {
            Grant wanted = granted.get(id);
            if (wanted != null && !closed) {
                listener.wanted(wanted);
            }
        });
    }

    @Override
    public CompletionStage<Boolean> downgrade(Grant grant) {
        called();
        return ask("downgrade " + Ids.of(grant.id()), answer -> server.downgrade(connection, grant, answer));
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        called();
        world.judge.releases(client, grant);
        if (granted.remove(grant.id()) == null) {
            world.counts.add(Happening.RELEASE_RETRIED);
        }
        Answer<Boolean> answer =
                ask("release " + Ids.of(grant.id()), reply -> server.release(connection, grant, reply));
        answer.whenComplete((held, failure) -> {
            if (failure != null || !held) { // a broken grant stays until its lease ends
                world.judge.releaseFailed(grant);
            }
        });
        return answer;
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        called();
        granted.remove(claim.id());
        return this.<Boolean>ask(
                        "withdraw " + Ids.of(claim.id()),
                        answer -> server.withdraw(connection, claim, () -> answer.accept(true)))
                .thenAccept(done -> {});
    }

    // ---- people ----

    @Override
    public CompletionStage<LockStatus> status(String name) {
        called();
        return ask("status of " + name, answer -> answer.accept(server.status(name)));
    }

    @Override
    public CompletionStage<List<LockStatus>> list(String prefix) {
        called();
        return ask("list", answer -> answer.accept(server.list()));
    }

    @Override
    public CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
        called();
        boolean asked = client.isBreaking(name);
        return ask("break " + name, answer -> server.breakGrant(name, number, now, asked, answer));
    }

    /** The connection broke and is there again: what it holds may be gone. */
    void reconnected() {
        if (!closed) {
            List.copyOf(granted.values()).forEach(listener::suspect);
        }
    }

    /** On the server's side: says, unasked, that this one is gone. */
    private void pushLost(ClaimId id) {
        link.toClient(client, "gone is " + Ids.of(id), () -> {
            Grant gone = granted.get(id);
            if (gone != null && !closed) {
                listener.lost(gone);
            }
        });
    }

    @Override
    public void close() {
        closed = true;
        List.copyOf(claims.values()).forEach(claim -> claim.fail(closedException()));
        List.copyOf(asked).forEach(answer -> answer.completeExceptionally(closedException()));
        link.toServer(server, "goes", () -> server.disconnect(connection));
    }

    /** The engine calls: a store may call back, wait for its own threads, or take long. */
    void called() {
        if (client.holdsMutex()) {
            world.judge.broken(Rule.NO_MUTEX, client.name() + " calls its store under a mutex");
        }
    }

    /** An answer came. */
    void heard() {
        heardAt = time.nanoTime();
    }

    /** When the last answer came, by its client's clock. */
    long heardAt() {
        return heardAt;
    }

    boolean isClosed() {
        return closed;
    }

    // ---- requests ----

    <T> Answer<T> ask(String what, Consumer<Consumer<T>> work) {
        return ask(what, false, work);
    }

    /**
     * Asks, and waits for the answer no longer than the time-out.
     *
     * @param onlyOnce whether the server drops the copy of a request that the network has doubled
     */
    private <T> Answer<T> ask(String what, boolean onlyOnce, Consumer<Consumer<T>> work) {
        boolean[] done = new boolean[1];
        Answer<T> answer = new Answer<>(world, client);
        if (closed) {
            answer.completeExceptionally(closedException());
            return answer;
        }
        if (!client.isAlive()) {
            return answer; // a stack that unwinds with its process sends nothing
        }
        asked.add(answer);
        link.toServer(server, what, () -> {
            if (!server.isDown() && !(onlyOnce && done[0])) {
                done[0] = true;
                work.accept(reply -> link.toClient(client, "answer to " + what, () -> {
                    heard();
                    answer.complete(reply);
                }));
            }
        });
        TimeSource.Scheduled timeout =
                time.schedule(() -> answer.completeExceptionally(timedOut(what)), setting.timeout());
        answer.whenComplete((reply, failure) -> {
            asked.remove(answer);
            timeout.cancel();
        });
        return answer;
    }

    static StoreUnavailableException timedOut(String what) {
        return new StoreUnavailableException("no answer to " + what);
    }

    private static ClientClosedException closedException() {
        return new ClientClosedException("the client of sim: is closed; make a new one");
    }
}
