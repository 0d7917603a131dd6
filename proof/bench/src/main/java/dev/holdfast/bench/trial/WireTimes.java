package dev.holdfast.bench.trial;

import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * When a turn passes each place on its way to the server and back: between its caller and the event loops that this makes,
 * and at the socket of every connection that it is added to. For one turn at a time; the caller and the event loops note.
 */
@Sharable
final class WireTimes extends ChannelDuplexHandler {
    /** The places, in the order in which a turn passes them. */
    enum Place {
        /** The caller has put its request where the event loop finds it, and rings. */
        BELL,
        /** The event loop begins with the request. */
        DRAIN,
        /** The first bytes are given to the kernel. */
        WRITTEN,
        /** The last bytes came back. */
        READ,
        /** The library knows its answer, and wakes the caller. */
        WAKE,
        /** The caller goes on. */
        RUNNING
    }

    private volatile long bell;
    private volatile long drain;
    private volatile long written;
    private volatile long read;
    private volatile long wake;

    /** Event loops that note when others ring. */
    EventLoopGroup loops(int threads) {
        return new MultiThreadIoEventLoopGroup(
                threads, new DefaultThreadFactory("free-lock", true), NioIoHandler.newFactory()) {
            @Override
            protected IoEventLoop newChild(Executor executor, IoHandlerFactory io, @Nullable Object... more) {
                return new SingleThreadIoEventLoop(this, executor, io) {
                    @Override
                    public void execute(Runnable task) {
                        if (inEventLoop()) {
                            super.execute(task);
                            return;
                        }
                        bell = bell == 0 ? System.nanoTime() : bell;
                        super.execute(() -> {
                            drain = drain == 0 ? System.nanoTime() : drain;
                            task.run();
                        });
                    }
                };
            }
        };
    }

    void addTo(Channel channel) {
        channel.pipeline().addFirst(this);
    }

    /** Forgets the turn before. */
    void begin() {
        bell = 0;
        drain = 0;
        written = 0;
        read = 0;
        wake = 0;
    }

    /** The library has its answer, right before it wakes the caller. */
    void wakes() {
        wake = System.nanoTime();
    }

    /** When the turn passed each place that was noted, in their order. */
    Map<Place, Long> passed(long running) {
        Map<Place, Long> all = new EnumMap<>(Map.of(
                Place.BELL, bell,
                Place.DRAIN, drain,
                Place.WRITTEN, written,
                Place.READ, read,
                Place.WAKE, wake,
                Place.RUNNING, running));
        all.values().removeIf(time -> time == 0);
        return all;
    }

    @Override
    public void flush(ChannelHandlerContext context) throws Exception {
        written = written == 0 ? System.nanoTime() : written;
        super.flush(context);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
        read = System.nanoTime();
        super.channelRead(context, message);
    }
}
