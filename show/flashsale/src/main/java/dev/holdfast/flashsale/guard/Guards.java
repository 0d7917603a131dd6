package dev.holdfast.flashsale.guard;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.flashsale.shop.Order;
import dev.holdfast.flashsale.shop.Reading;
import dev.holdfast.flashsale.shop.Sale;
import dev.holdfast.flashsale.shop.Shop;
import dev.holdfast.ladder.Rung;
import dev.holdfast.ladder.etcd.LockService;
import dev.holdfast.ladder.etcd.PutIfAbsent;
import dev.holdfast.ladder.etcd.PutWithLease;
import dev.holdfast.ladder.memcached.Add;
import dev.holdfast.ladder.memcached.AddThenTouch;
import dev.holdfast.ladder.memcached.AddWithLease;
import dev.holdfast.ladder.redis.LuaDelete;
import dev.holdfast.ladder.redis.SetNx;
import dev.holdfast.ladder.redis.SetNxEx;
import dev.holdfast.ladder.redis.SetNxExpire;
import dev.holdfast.ladder.redis.SetNxFinally;
import dev.holdfast.ladder.redis.UniqueValue;
import dev.holdfast.ladder.redis.Watchdog;
import dev.holdfast.ladder.sql.Heartbeat;
import dev.holdfast.ladder.sql.HostAndThread;
import dev.holdfast.ladder.sql.QueryAndOccupy;
import dev.holdfast.ladder.sql.UniqueRow;
import dev.holdfast.ladder.zookeeper.OneNode;
import dev.holdfast.ladder.zookeeper.OneNodeLookedAt;
import dev.holdfast.ladder.zookeeper.SequentialNodes;
import dev.holdfast.recipes.SplitStock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The guards of a server by their ids; each is made when the first order needs it. Thread-safe. */
public final class Guards implements AutoCloseable {
    /** The guard whose stock is in segments. */
    public static final String SPLIT = "split";

    /** A lock of Holdfast. */
    public static final String HOLDFAST = "holdfast";

    private static final List<String> EVERYWHERE =
            List.of("none", "synchronized", "pessimistic", "optimistic", HOLDFAST, SPLIT);
    private static final long LONGEST_PAUSE = 20; // milliseconds, between tries of a lock that cannot wait

    private final Shop shop;
    private final Faults faults;
    private final Section section;
    private final LockClient client;
    private final HoldOptions options;
    private final String store;
    private final String database;
    private final Map<String, Guard> made = new ConcurrentHashMap<>();

    /**
     * The guards of a server.
     *
     * @param store the URL of the store that keeps the locks
     * @param database the JDBC URL of the shop's database
     */
    public Guards(Shop shop, Faults faults, LockClient client, HoldOptions options, String store, String database) {
        this.shop = shop;
        this.faults = faults;
        this.section = new Section(shop, faults);
        this.client = client;
        this.options = options;
        this.store = store;
        this.database = database;
    }

    /** The ids of the guards on a store, the textbooks' locks by age. */
    public static List<String> on(String store) {
        List<String> ids = new ArrayList<>(EVERYWHERE);
        ids.addAll(2, rungs(store).keySet());
        return List.copyOf(ids);
    }

    /** What is left of a sale, in one piece or in segments. */
    public static long left(Shop shop, Sale sale) {
        return sale.guard().equals(SPLIT) ? shop.remainingInSegments(sale.id()) : sale.remaining();
    }

    /**
     * Whether a guard needs the store of the locks, so that it notices when the store is away. Beside a store that is no
     * database server, the tickets are in a SQLite file of their own, with what the textbooks' locks keep in SQL.
     */
    public static boolean needsStore(String id, String store) {
        return store.startsWith("jdbc:")
                || id.equals(HOLDFAST)
                || id.equals(SPLIT)
                || (!store.startsWith("sqlite:") && rungs(store).containsKey(id));
    }

    /** The textbooks' locks on a store. */
    private static Map<String, Function<String, Rung>> rungs(String store) {
        Map<String, Function<String, Rung>> rungs = new LinkedHashMap<>();
        if (store.startsWith("redis:") || store.startsWith("rediss:")) {
            rungs.put("setnx", SetNx::new);
            rungs.put("setnx-finally", SetNxFinally::new);
            rungs.put("setnx-expire", SetNxExpire::new);
            rungs.put("setnx-ex", SetNxEx::new);
            rungs.put("unique-value", UniqueValue::new);
            rungs.put("lua-delete", LuaDelete::new);
            rungs.put("watchdog", Watchdog::new);
        } else if (store.startsWith("zk:")) {
            rungs.put("one-node", OneNode::new);
            rungs.put("one-node-looked-at", OneNodeLookedAt::new);
            rungs.put("sequential-nodes", SequentialNodes::new);
        } else if (store.startsWith("etcd:") && !store.contains("@")) { // the textbooks know no log-in
            rungs.put("put-if-absent", PutIfAbsent::new);
            rungs.put("put-with-lease", PutWithLease::new);
            rungs.put("lock-service", LockService::new);
        } else if (store.startsWith("memcached:")) {
            rungs.put("add", Add::new);
            rungs.put("add-then-touch", AddThenTouch::new);
            rungs.put("add-with-lease", AddWithLease::new);
        } else if (store.startsWith("jdbc:") || store.startsWith("sqlite:")) {
            rungs.put("query-and-occupy", QueryAndOccupy::new);
            if (store.startsWith("jdbc:postgresql:")) { // in whose SQL they are written
                rungs.put("unique-row", UniqueRow::new);
                rungs.put("host-and-thread", HostAndThread::new);
                rungs.put("heartbeat", Heartbeat::new);
            }
        }
        return rungs;
    }

    /**
     * A guard by its id.
     *
     * @throws IllegalArgumentException if there is none on this store
     */
    public Guard get(String id) {
        return made.computeIfAbsent(id, this::make);
    }

    private Guard make(String id) {
        return switch (id) {
            case "none" -> (sale, order, patience) -> Outcome.of(section.sell(sale, order));
            case "synchronized" -> new MonitorGuard(section);
            case "pessimistic" -> (sale, order, patience) -> Outcome.of(section.sellInTransaction(sale, order));
            case "optimistic" -> this::sellOptimistically;
            case HOLDFAST -> new HoldfastGuard(client, options, section, shop);
            case SPLIT -> this::sellFromSegments;
            default -> {
                Function<String, Rung> rung = rungs(store).get(id);
                if (rung == null) {
                    throw new IllegalArgumentException(
                            "there is no guard '" + id + "' on this store; there are " + on(store));
                }
                yield new RungGuard(rung.apply(whereRungsLock()), section);
            }
        };
    }

    /** As the textbooks' locks name the store: a URL, or hosts with their ports between commas. */
    private String whereRungsLock() {
        String hosts = store.replaceFirst("^\\w+://", "").replaceFirst("\\?.*", "");
        return switch (store.replaceFirst(":.*", "")) {
            case "redis", "rediss" -> store;
            case "zk" -> hosts;
            case "etcd" -> withPorts(hosts, ":2379");
            case "memcached" -> withPorts(hosts, ":11211");
            default -> database;
        };
    }

    private static String withPorts(String hosts, String port) {
        return Stream.of(hosts.replaceFirst("/.*", "").split(","))
                .map(host -> host.matches(".*:\\d+") ? host : host + port)
                .collect(Collectors.joining(","));
    }

    private Outcome sellOptimistically(Sale sale, Order order, Duration patience) throws InterruptedException {
        long end = System.nanoTime() + patience.toNanos();
        // code optimistic
        do {
            Sale now = shop.find(sale.id()).orElseThrow();
            Reading read = Reading.now(now.remaining());
            if (read.left() < order.quantity()) {
                return Outcome.SOLD_OUT;
            }
            faults.strike(sale.gapMillis());
            if (shop.writeIfUnchanged(order, read, now.version())) {
                return Outcome.SOLD;
            }
            pause();
        } while (System.nanoTime() < end);
        // end
        return Outcome.TOO_BUSY;
    }

    /** The segments are written in the transaction of the order, so the stock of a killed server is not lost. */
    private Outcome sellFromSegments(Sale sale, Order order, Duration patience) throws InterruptedException {
        // code split
        var segments = shop.segments(order, () -> faults.strike(sale.gapMillis()));
        return Outcome.of(SplitStock.of(client, "sale:" + sale.id(), Shop.SEGMENTS, segments, options)
                .take(order.quantity()));
        // end
    }

    private static void pause() throws InterruptedException {
        Thread.sleep(ThreadLocalRandom.current().nextLong(1, LONGEST_PAUSE));
    }

    @Override
    public void close() {
        made.values().forEach(Guard::close);
    }

    /** The keyword of the language: all of one process wait for each other, and nobody else does. */
    private static final class MonitorGuard implements Guard {
        private final Section section;

        MonitorGuard(Section section) {
            this.section = section;
        }

        @Override
        public Outcome sell(Sale sale, Order order, Duration patience) {
            // code synchronized
            synchronized (this) {
                return Outcome.of(section.sell(sale, order));
            }
            // end
        }
    }

    /** A textbook's lock, which tries once; so it is tried until the patience ends. */
    private record RungGuard(Rung rung, Section section) implements Guard {
        @Override
        public Outcome sell(Sale sale, Order order, Duration patience) throws InterruptedException {
            long end = System.nanoTime() + patience.toNanos();
            AtomicBoolean sold = new AtomicBoolean();
            do {
                if (rung.run(sale.lockName(), token -> sold.set(section.sell(sale, order)))) {
                    return Outcome.of(sold.get());
                }
                pause();
            } while (System.nanoTime() < end);
            return Outcome.TOO_BUSY;
        }

        @Override
        public void close() {
            rung.close();
        }
    }
}
