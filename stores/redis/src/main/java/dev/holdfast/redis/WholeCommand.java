package dev.holdfast.redis;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.netty.buffer.ByteBuf;
import java.util.List;

/**
 * A command that is written in one piece, as an array of the Redis protocol: {@code *2 $4 ECHO $2 hi}, with an end of line
 * after each part. Lettuce writes the parts one by one, seven calls for each word, and in a JVM that is not hot that takes as
 * long as all else the client does for a claim.
 */
final class WholeCommand extends Command<byte[], byte[], byte[]> {
    private static final int END = 2;
    /** A kind, the digits of a count, and an end of line. */
    private static final int LONGEST_HEAD = 1 + 10 + END;

    private final byte[] bytes;
    private final int length;

    /**
     * A command with all its words.
     *
     * @param words the name of the command, and what follows it
     */
    WholeCommand(ProtocolKeyword type, List<byte[]> words) {
        super(type, new ValueOutput<>(ByteArrayCodec.INSTANCE));
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
}
