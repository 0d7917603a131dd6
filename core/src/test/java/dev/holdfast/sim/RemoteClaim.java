package dev.holdfast.sim;

import dev.holdfast.LockMode;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * A claim on its way. One that waits is sent again and again, under its id, until it is answered: that confirms an offer,
 * asks for a lost reply, and queues up again after the server forgot.
 */
final class RemoteClaim implements Pending {
    private final RemoteStore store;
    private final World world;
    private final Client client;
    private final TimeSource time;
    private final Claim claim;
    private final Answer<Optional<Grant>> answer;
    private boolean cancelled;
    private boolean withdrawing;
    private boolean succeeded;

    RemoteClaim(RemoteStore store, Claim claim) {
        this.store = store;
        this.world = store.world;
        this.client = store.client;
        this.time = store.time;
        this.claim = claim;
        this.answer = new Answer<>(world, client);
    }

    void send() {
        long sent = time.nanoTime();
        store.link.toServer(
                store.server,
                "claim " + claim.name() + " by " + Ids.of(claim.id()) + kind() + (claim.waits() ? ", waiting" : ""),
                () -> store.server.claim(
                        store.connection,
                        claim,
                        reply -> store.link.toClient(
                                client, Ids.of(claim.id()) + " is " + reply.kind(), () -> answered(reply, sent))));
        if (claim.waits()) {
            time.schedule(
                    this::sendAgain, Duration.ofNanos(store.setting.pollNanos() / 2 + world.dice.below(1_000_000)));
        } else {
            time.schedule(() -> fail(RemoteStore.timedOut("claim")), store.setting.timeout());
        }
    }

    private String kind() {
        return claim.mode().kind() == LockMode.EXCLUSIVE ? "" : ", " + claim.mode();
    }

    private void sendAgain() {
        if (!answer.isDone() && !cancelled && !store.isClosed()) {
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

    private void answered(Reply reply, long sent) {
        if (reply.kind() == Reply.Kind.QUEUED) {
            return;
        }
        store.heard();
        if (reply.kind() == Reply.Kind.NOT_FREE) {
            world.judge.busy.refusedByStore(client, claim);
            settle(Optional.empty());
            return;
        }
        if (!answer.isDone() && !withdrawing && !store.isClosed()) {
            succeeded = true;
            Grant grant = Grant.of(claim, reply.number(), sent);
            store.granted.put(claim.id(), grant);
            settle(Optional.of(grant));
        } else if (!succeeded) {
            clearStray();
        }
    }

    private void clearStray() {
        world.counts.add(Happening.STRAY_GRANT_WITHDRAWN);
        store.withdraw(claim);
    }

    @Override
    public CompletionStage<Optional<Grant>> answer() {
        return answer;
    }

    @Override
    public void cancel() {
        store.called();
        if (answer.isDone() || cancelled) {
            return;
        }
        cancelled = true;
        store.ask("cancel " + Ids.of(claim.id()), (Consumer<Boolean> reply) -> store.server.cancel(claim, reply))
                .whenComplete((waited, failure) -> {
                    if (failure != null) {
                        fail(failure);
                    } else if (waited) {
                        settle(Optional.empty());
                    } else if (!answer.isDone()) {
                        withdrawing = true; // it was granted, offered or forgotten: end it, whatever it was
                        store.withdraw(claim).whenComplete((nothing, lost) -> {
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
