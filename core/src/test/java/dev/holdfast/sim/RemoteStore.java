package dev.holdfast.sim;

import dev.holdfast.Capabilities;
import dev.holdfast.ClientClosedException;
import dev.holdfast.LockMode;
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

    private final World world;
    private final Client client;
    private final Link link;
    private final Server server;
    private final Server.Connection connection;
    private final TimeSource time;
    private final Setting setting;
    private final Map<ClaimId, RemoteClaim> claims = new HashMap<>();
    private final Set<Answer<?>> asked = new LinkedHashSet<>();
    private final Map<ClaimId, Grant> granted = new LinkedHashMap<>();
    private StoreListener listener;
    private boolean closed;

    RemoteStore(World world, Client client, Link link, Server server, Setting setting, TimeSource time) {
        this.world = world;
        this.client = client;
        this.link = link;
        this.server = server;
        this.setting = setting;
        this.time = time;
        this.connection = server.connect(client.name(), this::pushOffer, this::pushLost);
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
                .extendable(setting.extendable());
    }

    @Override
    public void listen(StoreListener engine) {
        listener = engine;
    }

    // ---- claims ----

    @Override
    public Pending claim(Claim claim) {
        world.judge.claims(client, claim);
        RemoteClaim made = new RemoteClaim(claim);
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

    /**
     * A claim on its way. One that waits is sent again and again, under its id, until it is answered: that confirms an
     * offer, asks for a lost reply, and queues up again after the server forgot.
     */
    private final class RemoteClaim implements Pending {
        private final Claim claim;
        private final Answer<Optional<Grant>> answer = new Answer<>(world, client);
        private boolean cancelled;
        private boolean withdrawing;
        private boolean succeeded;

        RemoteClaim(Claim claim) {
            this.claim = claim;
        }

        void send() {
            long sent = time.nanoTime();
            link.toServer(
                    server,
                    "claim " + claim.name() + " by " + Ids.of(claim.id()) + kind() + (claim.waits() ? ", waiting" : ""),
                    () -> server.claim(
                            connection,
                            claim,
                            reply -> link.toClient(
                                    client, Ids.of(claim.id()) + " is " + reply.kind(), () -> answered(reply, sent))));
            if (claim.waits()) {
                time.schedule(this::sendAgain, Duration.ofNanos(setting.pollNanos() / 2 + world.dice.below(1_000_000)));
            } else {
                time.schedule(() -> fail(timedOut("claim")), setting.timeout());
            }
        }

        private String kind() {
            return claim.mode().kind() == LockMode.EXCLUSIVE ? "" : ", " + claim.mode();
        }

        private void sendAgain() {
            if (!answer.isDone() && !cancelled && !closed) {
                send();
            }
        }

        void offered() {
            if (!answer.isDone() && !withdrawing) {
                send();
            } else if (!succeeded) {
                clearStray();
            }
        }

        private void answered(Server.Reply reply, long sent) {
            if (reply.kind() == Server.Reply.Kind.QUEUED) {
                return;
            }
            if (reply.kind() == Server.Reply.Kind.NOT_FREE) {
                settle(Optional.empty());
                return;
            }
            if (!answer.isDone() && !withdrawing && !closed) {
                succeeded = true;
                Grant grant = Grant.of(claim, List.of(reply.number()), sent);
                granted.put(claim.id(), grant);
                settle(Optional.of(grant));
            } else if (!succeeded) {
                clearStray();
            }
        }

        private void clearStray() {
            world.counts.add(Happening.STRAY_GRANT_WITHDRAWN);
            withdraw(claim);
        }

        @Override
        public CompletionStage<Optional<Grant>> answer() {
            return answer;
        }

        @Override
        public void cancel() {
            if (answer.isDone() || cancelled) {
                return;
            }
            cancelled = true;
            ask("cancel " + Ids.of(claim.id()), (Consumer<Boolean> reply) -> server.cancel(claim, reply))
                    .whenComplete((waited, failure) -> {
                        if (failure != null) {
                            fail(failure);
                        } else if (waited) {
                            settle(Optional.empty());
                        } else if (!answer.isDone()) {
                            withdrawing = true; // it was granted, offered or forgotten: end it, whatever it was
                            withdraw(claim).whenComplete((nothing, lost) -> {
                                if (lost != null) {
                                    fail(lost);
                                } else {
                                    settle(Optional.empty());
                                }
                            });
                        }
                    });
        }

        private void settle(Optional<Grant> outcome) {
            if (!answer.isDone()) {
                world.judge.claimAnswered(client, claim);
                answer.complete(outcome);
            }
        }

        void fail(Throwable failure) {
            if (!answer.isDone()) {
                world.judge.claimAnswered(client, claim);
                answer.completeExceptionally(failure);
            }
        }
    }

    // ---- grants ----

    @Override
    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
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
        long sent = time.nanoTime();
        return this.<Optional<Long>>ask(
                        "fresh number for " + Ids.of(grant.id()),
                        true,
                        answer -> server.extend(connection, grant, answer))
                .thenApply(number -> number.map(fresh ->
                        new Grant(grant.id(), grant.names(), grant.mode(), grant.lease(), List.of(fresh), sent)));
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
    public CompletionStage<Boolean> downgrade(Grant grant) {
        return ask("downgrade " + Ids.of(grant.id()), answer -> server.downgrade(connection, grant, answer));
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        world.judge.releases(grant);
        if (granted.remove(grant.id()) == null) {
            world.counts.add(Happening.RELEASE_RETRIED);
        }
        return ask("release " + Ids.of(grant.id()), answer -> server.release(connection, grant, answer));
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        granted.remove(claim.id());
        return this.<Boolean>ask(
                        "withdraw " + Ids.of(claim.id()),
                        answer -> server.withdraw(connection, claim, () -> answer.accept(true)))
                .thenAccept(done -> {});
    }

    // ---- people ----

    @Override
    public CompletionStage<LockStatus> status(String name) {
        return ask("status of " + name, answer -> answer.accept(server.status(name)));
    }

    @Override
    public CompletionStage<List<LockStatus>> list(String prefix) {
        return ask("list", answer -> answer.accept(server.list()));
    }

    @Override
    public CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
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

    // ---- requests ----

    private <T> Answer<T> ask(String what, Consumer<Consumer<T>> work) {
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
                work.accept(reply -> link.toClient(client, "answer to " + what, () -> answer.complete(reply)));
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

    private static StoreUnavailableException timedOut(String what) {
        return new StoreUnavailableException("no answer to " + what);
    }

    private static ClientClosedException closedException() {
        return new ClientClosedException("the client of sim: is closed; make a new one");
    }
}
