package dev.holdfast.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;

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
    private static final byte[] END = {'\r', '\n'};

    private final byte[] bytes;

    /**
     * A command with all its words.
     *
     * @param words the name of the command, and what follows it
     */
    WholeCommand(ProtocolKeyword type, List<byte[]> words) {
        super(type, new ValueOutput<>(ByteArrayCodec.INSTANCE));
        byte[][] heads = new byte[words.size() + 1][];
        heads[0] = head('*', words.size());
        int length = heads[0].length;
        for (int i = 0; i < words.size(); i++) {
            heads[i + 1] = head('$', words.get(i).length);
            length += heads[i + 1].length + words.get(i).length + END.length;
        }
        bytes = new byte[length];
        int at = put(heads[0], 0);
        for (int i = 0; i < words.size(); i++) {
            at = put(heads[i + 1], at);
            at = put(words.get(i), at);
            at = put(END, at);
        }
    }

    private static byte[] head(char kind, int count) {
        return (kind + Integer.toString(count) + "\r\n").getBytes(US_ASCII);
    }

    private int put(byte[] part, int at) {
        System.arraycopy(part, 0, bytes, at, part.length);
        return at + part.length;
    }

    @Override
    public void encode(ByteBuf buffer) {
        buffer.writeBytes(bytes);
    }
}
