package dev.holdfast.redis;

import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.codec.StringCodec;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Opens a store on a cluster. */
final class Cluster {
    private Cluster() {}

    /**
     * Asks the first node that answers for all others. A failure leaves nothing behind.
     *
     * @param seeds some of the nodes
     * @param shutDown ends the Lettuce client, if it is ours
     */
    static RedisStore open(
            RedisClient client, List<RedisURI> seeds, RedisErrors errors, Settings settings, Runnable shutDown) {
        ClusterSender sender = new ClusterSender(
                client, seeds.get(0), seeds.stream().map(NodeAddress::of).toList(), settings, errors);
        try {
            ServerCheck greeting = askOne(client, seeds, errors, settings, sender);
            return store(client, seeds.get(0), sender, errors, settings, greeting, shutDown);
        } catch (RuntimeException e) {
            sender.close();
            shutDown.run();
            throw errors.ofConnecting(e, seeds.get(0).isSsl());
        } catch (Error e) {
            sender.close();
            shutDown.run();
            throw e;
        }
    }

    private static RedisStore store(
            RedisClient client,
            RedisURI like,
            ClusterSender sender,
            RedisErrors errors,
            Settings settings,
            ServerCheck greeting,
            Runnable shutDown) {
        AtomicReference<@Nullable ClusterOffers> offers = new AtomicReference<>();
        String channel = RedisStore.newChannel();
        RedisStore store = RedisStore.on(
                sender,
                errors,
                settings,
                greeting,
                listener -> {
                    ClusterOffers made = new ClusterOffers(
                            sender,
                            node -> () -> client.connectPubSubAsync(StringCodec.UTF8, node.uri(like)),
                            channel,
                            listener,
                            settings.time());
                    offers.set(made);
                    return made;
                },
                shutDown);
        sender.listen(eventsFor(sender, store.waiters(), offers));
        sender.connectAll();
        return store;
    }

    /** Passes over a node that cannot be reached or is refused; if none is left, a refusal is the better answer. */
    private static ServerCheck askOne(
            RedisClient client, List<RedisURI> seeds, RedisErrors errors, Settings settings, ClusterSender sender) {
        HoldfastException last = null;
        for (RedisURI seed : seeds) {
            NodeAddress address = NodeAddress.of(seed);
            try (StatefulRedisConnection<byte[], byte[]> connection = SingleServer.connect(client, seed)) {
                ServerCheck greeting =
                        ServerCheck.exchange(connection, () -> {}, errors, settings, ServerCheck.Wanted.CLUSTER_NODE);
                SlotOwners owners = SlotOwners.parse(
                        connection.async().clusterSlots().get(settings.timeout().toMillis(), TimeUnit.MILLISECONDS),
                        address);
                checkCoverage(owners, errors);
                sender.learnFirst(owners);
                return greeting;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw errors.of(e);
            } catch (Exception e) {
                HoldfastException why = sender.errorsOf(address).ofConnecting(RedisErrors.unwrapped(e), seed.isSsl());
                last = last instanceof StoreRefusedException ? last : why;
            }
        }
        throw last == null ? new IllegalArgumentException("a cluster without a node") : last;
    }

    private static void checkCoverage(SlotOwners owners, RedisErrors errors) {
        int served = owners.served();
        if (served < SlotHash.SLOT_COUNT) {
            throw errors.refused(
                    "does not cover all slots: " + served + " of " + SlotHash.SLOT_COUNT
                            + " have a master, and a lock in one of the others could not be kept; assign them"
                            + " (redis-cli --cluster fix), then connect again",
                    null);
        }
    }

    private static ClusterEvents eventsFor(
            ClusterSender sender, PendingClaims waiters, AtomicReference<@Nullable ClusterOffers> offers) {
        return new ClusterEvents() {
            @Override
            public void connected(NodeAddress node) {
                waiters.ask(lock -> node.equals(sender.owner(lock)));
            }

            @Override
            public void slotsMoved() {
                waiters.subscribedAgain();
            }

            @Override
            public void retired(NodeAddress node) {
                ClusterOffers made = offers.get();
                if (made != null) {
                    made.retire(node);
                }
            }

            @Override
            public void shutDown(RuntimeException why) {
                waiters.shutDown(why);
            }
        };
    }
}
