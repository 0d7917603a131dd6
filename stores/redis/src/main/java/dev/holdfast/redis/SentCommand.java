package dev.holdfast.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CompleteableCommand;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.netty.buffer.ByteBuf;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One sending of a call, as Lettuce sees it: a command that writes itself, and that tells how it ended. A call that is sent
 * again has another one.
 *
 * <p>It is written in one piece, as an array of the Redis protocol: {@code *2 $4 ECHO $2 hi}, with an end of line after each
 * part. Lettuce writes the parts one by one, seven calls for each word, and in a JVM that is not hot that takes as long as all
 * else the client does for a claim.
 *
 * <p>It ends once, by whoever is first: the server's answer, the end of the connection, or the pipeline that takes it back.
 * Thread-safe.
 */
final class SentCommand extends Command<byte[], byte[], byte[]> implements CompleteableCommand<byte[]> {
    private static final int END = 2;
    /** A kind, the digits of a count, and an end of line. */
    private static final int LONGEST_HEAD = 1 + 10 + END;

    private final byte[] bytes;
    private final int length;
    /** Those who hear of its end; null once it has ended. */
    private final AtomicReference<@Nullable BiConsumer<? super byte[], Throwable>> hears;

    /**
     * A command with all its words.
     *
     * @param words the name of the command, and what follows it
     * @param hears called once, with the answer or the failure; what it throws is lost
     */
    SentCommand(ProtocolKeyword type, List<byte[]> words, BiConsumer<byte @Nullable [], @Nullable Throwable> hears) {
        super(type, new ValueOutput<>(ByteArrayCodec.INSTANCE));
        this.hears = new AtomicReference<>(hears);
        int most = LONGEST_HEAD;
        for (byte[] word : words) {
            most += LONGEST_HEAD + word.length + END;
        }
        bytes = new byte[most];
        int at = head('*', words.size(), 0);
        for (byte[] word : words) {
            at = head('$', word.length, at);
            System.arraycopy(word, 0, bytes, at, word.length);
            at += word.length;
            bytes[at++] = '\r';
            bytes[at++] = '\n';
        }
        length = at;
    }

    /** Writes a kind and a count, and returns what is behind them. */
    private int head(char kind, int count, int at) {
        int last = at + 1;
        for (int rest = count; rest > 9; rest /= 10) {
            last++;
        }
        int rest = count;
        for (int i = last; i > at; i--) {
            bytes[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        bytes[at] = (byte) kind;
        bytes[last + 1] = '\r';
        bytes[last + 2] = '\n';
        return last + 1 + END;
    }

    @Override
    public void encode(ByteBuf buffer) {
        buffer.writeBytes(bytes, 0, length);
    }

    @Override
    public boolean isDone() {
        return hears.get() == null;
    }

    @Override
    public void complete() {
        if (output.hasError()) {
            end(null, new RedisCommandExecutionException(output.getError()));
        } else {
            end(output.get(), null);
        }
    }

    @Override
    public boolean completeExceptionally(Throwable why) {
        return end(null, why);
    }

    /** {@link #isCancelled} stays false: on a plain connection Lettuce asks {@link #isDone} alone. */
    @Override
    public void cancel() {
        end(null, new CancellationException());
    }

    private boolean end(byte @Nullable [] answer, @Nullable Throwable why) {
        BiConsumer<? super byte[], Throwable> all = hears.getAndSet(null);
        if (all == null) {
            return false;
        }
        tell(all, answer, why);
        return true;
    }

    private static void tell(
            BiConsumer<? super byte[], Throwable> one, byte @Nullable [] answer, @Nullable Throwable why) {
        try {
            one.accept(answer, why);
        } catch (Throwable broken) {
            // no matter of Lettuce, which goes on with the next command
        }
    }

    /**
     * For Lettuce, whose limits of time end with the command. After the end it is told that, and neither the answer nor the
     * failure: nothing is kept for it.
     */
    @Override
    public void onComplete(BiConsumer<? super byte[], Throwable> action) {
        if (hears.getAndUpdate(others -> others == null ? null : both(action, others)) == null) {
            tell(action, null, null);
        }
    }

    private static BiConsumer<byte[], Throwable> both(
            BiConsumer<? super byte[], Throwable> one, BiConsumer<? super byte[], Throwable> other) {
        return (answer, why) -> {
            try {
                one.accept(answer, why);
            } finally {
                other.accept(answer, why);
            }
        };
    }

    @Override
    public void onComplete(Consumer<? super byte[]> action) {
        onComplete((answer, why) -> {
            if (answer != null) {
                action.accept(answer);
            }
        });
    }
}
