package dev.holdfast.bench.trial;

import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;

/**
 * When bytes leave the client and come back to it: the last stop before the socket of every connection it is added to. For
 * one turn at a time; one thread asks, the event loops note.
 */
@Sharable
final class WireTimes extends ChannelDuplexHandler {
    private volatile long written;
    private volatile long read;

    void addTo(Channel channel) {
        channel.pipeline().addFirst(this);
    }

    /** Forgets the turn before. */
    void begin() {
        written = 0;
        read = 0;
    }

    /** When the first bytes since {@link #begin} were given to the kernel; 0 for none. */
    long written() {
        return written;
    }

    /** When the last bytes came back; 0 for none. */
    long read() {
        return read;
    }

    @Override
    public void flush(ChannelHandlerContext context) throws Exception {
        if (written == 0) {
            written = System.nanoTime();
        }
        super.flush(context);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
        read = System.nanoTime();
        super.channelRead(context, message);
    }
}
