package dev.holdfast.sim;

import dev.holdfast.LockMode;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

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
    private final Answer answer;
    private boolean cancelled;
    private boolean withdrawing;
    private boolean succeeded;

    RemoteClaim(RemoteStore store, Claim claim, Answer answer) {
        this.store = store;
        this.world = store.world;
        this.client = store.client;
        this.time = store.time;
        this.claim = claim;
        this.answer = answer;
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
        if (!answer.isGiven() && !cancelled && !store.isClosed()) {
            send();
        }
    }

    void offered() {
        if (!answer.isGiven() && !withdrawing) {
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
            settle(null);
            return;
        }
        if (!answer.isGiven() && !withdrawing && !store.isClosed()) {
            succeeded = true;
            Grant grant = Grant.of(claim, reply.number(), sent);
            store.granted.put(claim.id(), grant);
            settle(grant);
        } else if (!succeeded) {
            clearStray();
        }
    }

    private void clearStray() {
        world.counts.add(Happening.STRAY_GRANT_WITHDRAWN);
        store.withdraw(claim);
    }

    @Override
    public void cancel() {
        store.called();
        if (answer.isGiven() || cancelled) {
            return;
        }
        cancelled = true;
        store.ask("cancel " + Ids.of(claim.id()), (Consumer<Boolean> reply) -> store.server.cancel(claim, reply))
                .whenComplete((waited, failure) -> {
                    if (failure != null) {
                        fail(failure);
                    } else if (waited) {
                        settle(null);
                    } else if (!answer.isGiven()) {
                        withdrawing = true; // it was granted, offered or forgotten: end it, whatever it was
                        store.withdraw(claim).whenComplete((nothing, lost) -> {
                            if (lost != null) {
                                fail(lost);
                            } else {
                                settle(null);
                            }
                        });
                    }
                });
    }

    private void settle(@Nullable Grant grant) {
        if (!answer.isGiven()) {
            world.judge.claimAnswered(client, claim);
            if (grant == null) {
                answer.refused();
            } else {
                answer.granted(grant);
            }
        }
    }

    void fail(Throwable failure) {
        if (!answer.isGiven()) {
            world.judge.claimAnswered(client, claim);
            answer.failed(failure);
        }
    }
}
