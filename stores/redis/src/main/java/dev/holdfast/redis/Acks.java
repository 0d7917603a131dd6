package dev.holdfast.redis;

import dev.holdfast.StoreUnavailableException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
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
        private final ScriptPipeline pipeline;
        private final Consumer<ScriptCall> handled;
        private final long sentNanos;
        private final Queue<Said> kept = new ConcurrentLinkedQueue<>();
        private final AsyncCommand<byte[], byte[], Long> command;

        /**
         * @param pipeline takes the calls when it is unknown how many replicas have them
         * @param handled hears of each call whose answer was kept, and is not any more
         */
        Waiting(Acks acks, ScriptPipeline pipeline, long sentNanos, Consumer<ScriptCall> handled) {
            this.acks = acks;
            this.pipeline = pipeline;
            this.sentNanos = sentNanos;
            this.handled = handled;
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

        /** Keeps an answer until the replicas have it. WAIT may have ended meanwhile on another thread, as with its connection. */
        void keep(ScriptCall call, byte[] text, long connection) {
            kept.add(new Said(call, text, connection));
            if (command.isDone()) {
                command.onComplete(this::answered);
            }
        }

        /** WAIT was answered, or failed. A WAIT of another connection than its grant's confirms nothing. */
        void answered(@Nullable Long count, @Nullable Throwable failure) {
            for (Said said = kept.poll(); said != null; said = kept.poll()) {
                try {
                    tell(said, count, failure);
                    handled.accept(said.call);
                } catch (Throwable broken) {
                    // such as of memory: it ends this one, and not the others
                    said.call.fail(broken, pipeline.errors());
                }
            }
        }

        private void tell(Said said, @Nullable Long count, @Nullable Throwable failure) {
            if (said.call.isDone()) {
                return;
            }
            if (failure != null) {
                pipeline.failed(said.call, failure);
            } else if (count == null || said.connection != pipeline.connectionNumber()) {
                pipeline.failed(
                        said.call, new IllegalStateException("no answer to WAIT on the connection of the grant"));
            } else if (count >= acks.replicas) {
                said.call.answered(said.text, said.connection);
            } else {
                said.call.fail(tooFew(count));
            }
        }

        private StoreUnavailableException tooFew(long count) {
            return new StoreUnavailableException("only " + count + " of " + acks.replicas + " replicas (acks="
                    + acks.replicas + ") confirmed a grant on "
                    + pipeline.errors().store() + " within " + acks.timeout.toMillis()
                    + " ms: check the replicas, or set a lower acks");
        }
    }
}
