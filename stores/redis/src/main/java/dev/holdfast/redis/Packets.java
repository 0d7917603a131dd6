package dev.holdfast.redis;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * What a pipeline writes at once, and the answers to it.
 *
 * <pre>
 *   calls ──► EVALSHA …  EVALSHA …  [WAIT]   one write ──► server
 *               │ answered                     │
 *               │    a grant, with acks ──►  kept until WAIT is answered
 *               │    NOSCRIPT           ──►  again, with the script's text; so is a claim that overtook its release
 *               │    MOVED, ASK, …      ──►  {@link PipelineEvents#redirected}
 *               ▼
 *             engine
 * </pre>
 *
 * <p>For the connection's event loop, but for the questions whether a WAIT has its answer, and for {@link #cancelConfirmations}.
 */
final class Packets {
    private final ScriptPipeline pipeline;
    private final LettuceConnection connection;
    /** The calls that were sent, or are about to be, and have no answer yet. */
    private final Set<ScriptCall> inFlight;

    private final Acks acks;
    private final Queue<Acks.Waiting> confirmations = new ConcurrentLinkedQueue<>();
    /** Releases that the server did not know by their digest and that are sent in full now. */
    private final Set<ScriptCall> releasesInFull = ConcurrentHashMap.newKeySet();

    Packets(ScriptPipeline pipeline, LettuceConnection connection, Set<ScriptCall> inFlight, Acks acks) {
        this.pipeline = pipeline;
        this.connection = connection;
        this.inFlight = inFlight;
        this.acks = acks;
    }

    /** Whether a WAIT has no answer yet: the server runs nothing more on this connection until then. */
    boolean isUnconfirmed() {
        return !confirmations.isEmpty();
    }

    /** Whether a WAIT that left before this time has no answer yet: the server gives one much sooner. */
    boolean isUnconfirmedSince(long nanos) {
        return confirmations.stream().anyMatch(each -> each.sentNanos() - nanos < 0);
    }

    /** Lettuce forgets each WAIT: on the next connection it would say nothing about what was written on this one. */
    void cancelConfirmations() {
        confirmations.forEach(each -> each.command().cancel(false));
    }

    /**
     * Sends calls in one write. After an Error nobody else would answer them: those that have a command fail with it, the
     * others alone.
     *
     * @param now a time after every call was made, and before any is sent
     * @param inFull whether to send the scripts' whole texts, which the server does not know
     */
    void write(List<ScriptCall> calls, long now, boolean inFull) {
        if (calls.isEmpty()) {
            return;
        }
        List<RedisCommand<byte[], byte[], ?>> packet = new ArrayList<>();
        int prepared = 0;
        try {
            Acks.@Nullable Waiting confirmation =
                    acks.areWanted() && calls.stream().anyMatch(ScriptCall::mayGrant)
                            ? new Acks.Waiting(acks, pipeline, now, this::forgetIfDone)
                            : null;
            for (ScriptCall call : calls) {
                SentCommand command = call.command(
                        now,
                        connection.number(),
                        inFull,
                        (text, failure) -> ended(call, text, failure, inFull, confirmation));
                if (call.isAsking()) {
                    packet.add(asking(command));
                }
                packet.add(command);
                prepared++;
            }
            if (confirmation != null) {
                packet.add(confirmation.command());
                await(confirmation);
            }
            connection.lettuce().dispatch(packet);
        } catch (RuntimeException | Error e) {
            packet.forEach(command -> command.completeExceptionally(e));
            calls.subList(prepared, calls.size()).forEach(call -> pipeline.failed(call, e));
        }
    }

    /** To a server that is not the owner of the slot yet. If the command is taken back, it must not meet another one. */
    private static AsyncCommand<byte[], byte[], ?> asking(SentCommand command) {
        AsyncCommand<byte[], byte[], String> asking =
                new AsyncCommand<>(new Command<>(CommandType.ASKING, new StatusOutput<>(ByteArrayCodec.INSTANCE)));
        command.onComplete((answer, failure) -> asking.cancel(false));
        return asking;
    }

    private void await(Acks.Waiting confirmation) {
        confirmation.command().onComplete((count, failure) -> {
            confirmations.remove(confirmation); // first: nothing is sent until then
            try {
                pipeline.heard(failure);
            } finally {
                confirmation.answered(count, failure);
                pipeline.drainSoon();
            }
        });
        confirmations.add(confirmation);
    }

    private void ended(
            ScriptCall call,
            byte @Nullable [] text,
            @Nullable Throwable failure,
            boolean inFull,
            Acks.@Nullable Waiting confirmation) {
        long now = pipeline.heard(failure);
        if (!releasesInFull.isEmpty()) {
            releasesInFull.remove(call);
        }
        if (call.isDone()) {
            inFlight.remove(call);
        } else if (!inFull && failure != null && RedisErrors.isUnknownScript(failure)) {
            if (call.isRelease()) {
                releasesInFull.add(call);
            }
            write(List.of(call), now, true);
        } else if (!releasesInFull.isEmpty() && text != null && call.isClaim() && overtookARelease(call)) {
            write(List.of(call), now, false); // it has found the hold that its own client has ended
        } else {
            answered(call, text, failure, confirmation);
        }
    }

    /** Whether the answer to a claim came before that to a release of its lock that was made before it. */
    private boolean overtookARelease(ScriptCall claim) {
        return releasesInFull.stream()
                .anyMatch(release -> !release.isDone()
                        && release.number() < claim.number()
                        && Objects.equals(release.name(), claim.name()));
    }

    private void answered(
            ScriptCall call, byte @Nullable [] text, @Nullable Throwable failure, Acks.@Nullable Waiting confirmation) {
        if (text != null && failure == null) {
            if (confirmation != null && call.isGrant(text)) {
                confirmation.keep(call, text, connection.number());
            } else {
                call.answered(text, connection.number());
            }
        } else if (failure == null) {
            call.fail(pipeline.errors().of(new IllegalStateException("an empty answer")));
        } else if (!RedisErrors.isOfCluster(failure)
                || !pipeline.redirected(call, String.valueOf(failure.getMessage()))) {
            pipeline.failed(call, failure);
        }
        forgetIfDone(call);
    }

    private void forgetIfDone(ScriptCall call) {
        if (call.isDone()) {
            inFlight.remove(call);
        }
    }
}
