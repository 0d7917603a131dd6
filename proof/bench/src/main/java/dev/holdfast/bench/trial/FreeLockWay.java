package dev.holdfast.bench.trial;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.redis.RedisStores;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreFactory;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultEventLoopGroupProvider;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.util.concurrent.EventExecutorGroup;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.NettyHook;
import org.redisson.config.Config;

/** The ways to take a free lock on Redis that are compared: the least that a server can be asked for, and libraries. */
enum FreeLockWay {
    SET("`SET NX PX` by Lettuce") {
        @Override
        Client connect(String url, WireTimes wire) {
            return new OnLettuce(url, wire) {
                @Override
                @Nullable
                Object take(RedisAsyncCommands<String, String> redis, String lock, String owner) throws Exception {
                    return answer(redis.set(lock, owner, FOR_A_LEASE));
                }
            };
        }
    },
    SET_AND_INCR("and `INCR`, in one packet") {
        @Override
        Client connect(String url, WireTimes wire) {
            return new OnLettuce(url, wire) {
                @Override
                @Nullable
                Object take(RedisAsyncCommands<String, String> redis, String lock, String owner) throws Exception {
                    RedisFuture<String> set = redis.set(lock, owner, FOR_A_LEASE);
                    answer(redis.incr(COUNTER));
                    return set.get();
                }
            };
        }
    },
    SCRIPT("as one script") {
        @Override
        Client connect(String url, WireTimes wire) {
            return new OnLettuce(url, wire) {
                private final String taking = load("if redis.call('SET',KEYS[1],ARGV[1],'NX','PX',ARGV[2]) then"
                        + " return redis.call('INCR',KEYS[2]) end");

                @Override
                @Nullable
                Object take(RedisAsyncCommands<String, String> redis, String lock, String owner) throws Exception {
                    String[] keys = {lock, COUNTER};
                    return answer(redis.evalsha(taking, ScriptOutputType.INTEGER, keys, owner, "30000"));
                }
            };
        }
    },
    HOLDFAST("Holdfast") {
        @Override
        Client connect(String url, WireTimes wire) {
            RedisClient redis = lettuce(url, wire);
            StoreFactory store = RedisStores.on(redis);
            LockClient client = LockClient.builder((StoreFactory) context -> noting(store.open(context), wire))
                    .build();
            return new Client() {
                @Override
                public Runnable take(String lock) throws InterruptedException {
                    Hold hold = client.lock(lock).acquire();
                    return hold::close;
                }

                @Override
                public void close() {
                    client.close();
                    shutDown(redis);
                }
            };
        }
    },
    REDISSON("Redisson") {
        @Override
        Client connect(String url, WireTimes wire) {
            Config config = new Config();
            config.useSingleServer().setAddress(url);
            config.setEventLoopGroup(wire.loops(config.getNettyThreads()));
            config.setNettyHook(new NettyHook() {
                @Override
                public void afterBoostrapInitialization(Bootstrap bootstrap) {}

                @Override
                public void afterChannelInitialization(Channel channel) {
                    wire.addTo(channel);
                }
            });
            RedissonClient client = Redisson.create(config);
            return new Client() {
                @Override
                public Runnable take(String name) {
                    RLock lock = client.getLock(name);
                    lock.lock();
                    return lock::unlock;
                }

                @Override
                public void close() {
                    client.shutdown();
                    config.getEventLoopGroup().shutdownGracefully();
                }
            };
        }
    };

    private static final SetArgs FOR_A_LEASE = SetArgs.Builder.nx().px(30_000);
    private static final String COUNTER = "free-lock:numbers";
    private static final int IO_THREADS = 2;

    final String title;

    FreeLockWay(String title) {
        this.title = title;
    }

    /** A client, for any number of threads. */
    interface Client extends AutoCloseable {
        /** Takes a lock that nobody holds; what it returns gives the lock back. */
        Runnable take(String lock) throws Exception;

        @Override
        void close();
    }

    /**
     * A client of its own.
     *
     * @param wire notes what its connections write and read
     */
    abstract Client connect(String url, WireTimes wire);

    private static RedisClient lettuce(String url, WireTimes wire) {
        return RedisClient.create(
                ClientResources.builder()
                        .eventLoopGroupProvider(new DefaultEventLoopGroupProvider(IO_THREADS) {
                            @Override
                            @SuppressWarnings("deprecation") // the class by which Lettuce asks
                            protected <T extends EventLoopGroup> EventExecutorGroup doCreateEventLoopGroup(
                                    Class<T> type,
                                    int threads,
                                    io.lettuce.core.resource.ThreadFactoryProvider factories) {
                                return type.isAssignableFrom(NioEventLoopGroup.class)
                                        ? wire.loops(threads)
                                        : super.doCreateEventLoopGroup(type, threads, factories);
                            }
                        })
                        .nettyCustomizer(new NettyCustomizer() {
                            @Override
                            public void afterChannelInitialized(Channel channel) {
                                wire.addTo(channel);
                            }
                        })
                        .build(),
                url);
    }

    private static void shutDown(RedisClient redis) {
        ClientResources resources = redis.getResources();
        redis.shutdown();
        resources.shutdown().awaitUninterruptibly();
        resources.eventLoopGroupProvider().shutdown(0, 0, TimeUnit.MILLISECONDS).awaitUninterruptibly();
    }

    /** A store of which is noted when it answers a claim. */
    private static Store noting(Store store, WireTimes wire) {
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("claim")) {
                        return store.claim((Claim) arguments[0], ((Answer) arguments[1]).after(wire::wakes));
                    }
                    try {
                        return method.invoke(store, arguments);
                    } catch (InvocationTargetException thrown) {
                        throw Objects.requireNonNull(thrown.getCause());
                    }
                });
    }

    /** Commands without a library of locks; a lock is given back by a script that compares, and not waited for. */
    private abstract static class OnLettuce implements Client {
        private final RedisClient client;
        private final StatefulRedisConnection<String, String> connection;
        private final WireTimes wire;
        private final String deleting;

        OnLettuce(String url, WireTimes wire) {
            this.wire = wire;
            client = lettuce(url, wire);
            connection = client.connect();
            deleting = load("if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) end");
        }

        /** The answer of the server; null where the lock was not free. */
        abstract @Nullable Object take(RedisAsyncCommands<String, String> redis, String lock, String owner)
                throws Exception;

        /** Waits for the answer of the server. */
        final <T> @Nullable T answer(RedisFuture<T> request) throws Exception {
            return request.thenApply(reply -> {
                        wire.wakes();
                        return reply;
                    })
                    .toCompletableFuture()
                    .get();
        }

        final String load(String script) {
            return connection.sync().scriptLoad(script);
        }

        @Override
        public final Runnable take(String lock) throws Exception {
            RedisAsyncCommands<String, String> redis = connection.async();
            String owner = UUID.randomUUID().toString();
            if (take(redis, lock, owner) == null) {
                throw new IllegalStateException("the lock was refused, and nobody holds it");
            }
            String[] keys = {lock};
            return () -> {
                RedisFuture<Long> unused = redis.evalsha(deleting, ScriptOutputType.INTEGER, keys, owner);
            };
        }

        @Override
        public void close() {
            shutDown(client);
        }
    }
}
