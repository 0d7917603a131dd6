package dev.holdfast.redis;

import dev.holdfast.StoreUnavailableException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How many replicas must have a grant before it counts.
 *
 * @param replicas 0 for none, and then the client does not ask
 * @param timeout how long the server waits for them
 */
record Acks(int replicas, Duration timeout) {
    static final Acks NONE = new Acks(0, Duration.ZERO);

    boolean areWanted() {
        return replicas > 0;
    }

    /**
     * The grants of one packet, whose calls are answered when the WAIT behind them was. WAIT counts the replicas that
     * have everything written on its own connection before; so it is useless on another connection, and is not repeated
     * on the next one.
     */
    static final class Waiting {
        /** The answer that a call will receive. */
        private static final class Said {
            final ScriptCall call;
            final byte[] text;
            final long connection;

            Said(ScriptCall call, byte[] text, long connection) {
                this.call = call;
                this.text = text;
                this.connection = connection;
            }
        }

        private final Acks acks;
        private final RedisErrors errors;
        private final long sentNanos;
        private final List<Said> kept = new ArrayList<>();
        private final AsyncCommand<byte[], byte[], Long> command;

        Waiting(Acks acks, RedisErrors errors, long sentNanos) {
            this.acks = acks;
            this.errors = errors;
            this.sentNanos = sentNanos;
            CommandArgs<byte[], byte[]> words = new CommandArgs<>(ByteArrayCodec.INSTANCE)
                    .add(acks.replicas)
                    .add(Math.max(1, acks.timeout.toMillis()));
            this.command = new AsyncCommand<>(
                    new Command<>(CommandType.WAIT, new IntegerOutput<>(ByteArrayCodec.INSTANCE), words));
        }

        /** When it left. */
        long sentNanos() {
            return sentNanos;
        }

        AsyncCommand<byte[], byte[], Long> command() {
            return command;
        }

        /** Those whose answers it keeps. */
        Stream<ScriptCall> calls() {
            return kept.stream().map(said -> said.call);
        }

        /** Keeps an answer until the replicas have it; on the event loop, like all methods below. */
        void keep(ScriptCall call, byte[] text, long connection) {
            kept.add(new Said(call, text, connection));
        }

        /**
         * WAIT was answered, or failed. A WAIT of another connection than its grant's confirms nothing.
         *
         * @param by takes the calls when it is unknown how many replicas have them
         */
        void answered(@Nullable Long count, @Nullable Throwable failure, ScriptPipeline by) {
            for (Said said : kept) {
                if (said.call.isDone()) {
                    continue;
                }
                if (failure != null) {
                    by.failed(said.call, failure);
                } else if (count == null || said.connection != by.connectionNumber()) {
                    by.failed(said.call, new IllegalStateException("no answer to WAIT on the connection of the grant"));
                } else if (count >= acks.replicas) {
                    said.call.answered(said.text, said.connection);
                } else {
                    said.call.fail(tooFew(count));
                }
            }
        }

        private StoreUnavailableException tooFew(long count) {
            return new StoreUnavailableException("only " + count + " of " + acks.replicas + " replicas (acks="
                    + acks.replicas + ") confirmed a grant on " + errors.store() + " within " + acks.timeout.toMillis()
                    + " ms: check the replicas, or set a lower acks");
        }
    }
}
