package dev.holdfast.flashsale;

import dev.holdfast.flashsale.guard.Faults;
import dev.holdfast.flashsale.guard.Guards;
import dev.holdfast.flashsale.scene.Span;
import dev.holdfast.flashsale.shop.Sale;
import dev.holdfast.flashsale.shop.Shop;
import dev.holdfast.flashsale.shop.Tally;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A sale with its servers, its balancer and its buyers.
 *
 * <pre>
 *   browser ──► page, events, buttons ─┐                       ┌─► server 1 ─┐
 *                                      ├─ balancer (this JVM) ─┤             ├─► locks, tickets, orders
 *   buyers ───► /sales, /accounts ─────┘                       └─► server 2 ─┘
 * </pre>
 *
 * With nginx, all of it goes to nginx first, and orders from there to the servers.
 *
 * <p>Thread-safe.
 */
final class FlashSale implements AutoCloseable {
    /** The only sale of the page. */
    static final String SALE = "1";

    private static final String FIRST_GUARD = "none";
    private static final int FIRST_STOCK = 20;
    private static final int FIRST_GAP = 20;
    private static final int MOST_STOCK = 100_000;
    private static final int MOST_GAP = 2_000;

    private final Storage storage;
    private final Shop shop;
    private final Balancer balancer;
    private final @Nullable Nginx nginx;
    private final Servers servers;
    private final LockWatch watch;
    private final Strikes strikes = new Strikes();
    private final Recording recording = new Recording();
    private final Results results = new Results();
    private final Couple couple;
    private final Consumer<String> log;
    private final ReentrantLock changes = new ReentrantLock();
    private final Scenes scenes;
    private volatile @Nullable Run run;
    private volatile @Nullable Buyers buyers;

    /**
     * All that the page shows.
     *
     * @param cuttable those of them that notice when the store is cut off; none where it cannot be
     * @param story what happened, told by a few orders
     * @param results the runs before this one
     */
    record Figures(
            String store,
            List<String> guards,
            List<String> cuttable,
            Sale sale,
            long remaining,
            Tally tally,
            List<Servers.Figures> nodes,
            LockWatch.@Nullable Figures lock,
            Outage.Figures outage,
            Strikes.Figures struck,
            @Nullable Run run,
            Buyers.@Nullable Figures buyers,
            Couple.@Nullable Account couple,
            List<Span> story,
            List<Results.Result> results) {}

    private FlashSale(Storage storage, int port, @Nullable Path nginxProgram, Consumer<String> log) {
        this.storage = storage;
        this.log = log;
        shop = storage.shop();
        couple = new Couple(shop);
        balancer = new Balancer(this, nginxProgram == null ? port : 0);
        nginx = nginxProgram == null ? null : new Nginx(nginxProgram, port);
        servers = new Servers(storage.settings(), nginx == null ? balancer : nginx, log, this::struck);
        scenes = new Scenes(servers);
        watch = new LockWatch(storage.store(), storage.password(), "sale:" + SALE);
    }

    /**
     * Prepares a sale, which is to be closed also if it is never started.
     *
     * @param store the URL of a store, or null for a file of its own
     * @param port where the page is; 0 for any
     * @param nginx the program that balances; null for this one
     * @param log gets what servers say of their troubles
     */
    static FlashSale prepare(@Nullable String store, int port, @Nullable Path nginx, Consumer<String> log)
            throws IOException {
        Storage storage = Storage.on(store);
        try {
            return new FlashSale(storage, port, nginx, log);
        } catch (RuntimeException failure) {
            storage.close();
            throw failure;
        }
    }

    /** Prepares a sale and starts it, or leaves nothing behind. */
    static FlashSale start(@Nullable String store, int nodes, int port, Consumer<String> log)
            throws IOException, InterruptedException {
        return start(store, nodes, port, null, log);
    }

    /** The same with nginx. */
    static FlashSale start(@Nullable String store, int nodes, int port, @Nullable Path nginx, Consumer<String> log)
            throws IOException, InterruptedException {
        FlashSale sale = prepare(store, port, nginx, log);
        try {
            sale.start(nodes);
            return sale;
        } catch (IOException | RuntimeException | InterruptedException failure) {
            sale.close();
            throw failure;
        }
    }

    /**
     * Starts it; when this returns, all servers serve.
     *
     * @throws java.net.BindException if the port is taken; nothing was changed in the database
     * @throws IllegalStateException if the database has tables of such names; nothing was changed in them
     */
    void start(int count) throws IOException, InterruptedException {
        balancer.start();
        if (nginx != null) {
            nginx.start(balancer.address());
        }
        storage.createTables();
        open(FIRST_GUARD, FIRST_STOCK, FIRST_GAP);
        servers.start(count);
        watch.start();
        balancer.startEvents();
    }

    /** Where the page and the sale are. */
    URI address() {
        return nginx == null ? balancer.address() : nginx.address();
    }

    Figures figures() {
        Sale sale = shop.find(SALE).orElseThrow();
        Tally tally = shop.tally(sale);
        Buyers sent = buyers;
        Outage.Figures outage = storage.outage().figures();
        return new Figures(
                storage.store().replaceFirst("[:?].*", ""),
                Guards.on(storage.store()),
                storage.cuttable(),
                sale,
                Guards.left(shop, sale),
                tally,
                servers.figures(),
                watch.figures(),
                outage,
                strikes.figures(outage),
                run,
                sent == null ? null : sent.figures(),
                couple.account(),
                Story.of(shop.traces(), sale, tally, strikes.death()),
                results.all());
    }

    /** Opens the sale again. */
    void open(String guard, int stock, int gapMillis) {
        checkSale(guard, stock, gapMillis);
        changes.lock();
        try {
            requireQuiet();
            servers.disarm();
            keepResult();
            run = null;
            buyers = null;
            couple.forget();
            storage.outage().restart();
            strikes.restart();
            shop.open(SALE, guard, stock, gapMillis);
            recording.restart();
        } finally {
            changes.unlock();
        }
    }

    private void keepResult() {
        Run last = run;
        Buyers sent = buyers;
        if (sent != null) {
            Sale sale = shop.find(SALE).orElseThrow();
            int within = last == null ? 0 : last.withinMillis();
            Strikes.Figures struck = strikes.figures(storage.outage().figures());
            results.add(sale, within, shop.tally(sale), struck, sent.figures());
        }
    }

    /** Brings back servers that are down, opens the sale, arms the fault in server 1 and sends the buyers. */
    void run(Run wanted) throws InterruptedException {
        wanted.check();
        checkSale(wanted.guard(), wanted.stock(), wanted.gapMillis());
        if (wanted.armed().filter(Faults.Fault.CUT::equals).isPresent()) {
            storage.requireCuttable(wanted.guard());
        }
        Refused.unless(changes.tryLock(), "another run is starting"); // it may wait for servers: none queues behind it
        try {
            requireQuiet();
            Refused.unless(!storage.outage().figures().on(), "the store is still cut off");
            servers.awaitAllUp();
            servers.requireUp(1); // before the sale that is there is wiped
            open(wanted.guard(), wanted.stock(), wanted.gapMillis());
            wanted.armed().ifPresent(fault -> servers.arm(1, fault));
            run = wanted;
            buyers = Buyers.send(
                    orders(),
                    Collections.nCopies(wanted.buyers(), "{\"quantity\":1}"),
                    wanted.withinMillis(),
                    new SplittableRandom(wanted.seed()));
        } finally {
            changes.unlock();
        }
    }

    /** Sends buyers. */
    void send(int count, int quantity) {
        send(count, quantity, Buyers.PATIENCE);
    }

    /** Sends buyers who give up after some time. */
    void send(int count, int quantity, Duration patience) {
        Refused.unless(count >= 1 && count <= Buyers.MOST, "count must be 1 to " + Buyers.MOST);
        Refused.unless(quantity >= 1, "quantity must be at least 1");
        changes.lock();
        try {
            requireQuiet();
            buyers = Buyers.send(orders(), count, "{\"quantity\":" + quantity + "}", patience);
        } finally {
            changes.unlock();
        }
    }

    /** Opens the couple's account with 200, from which one withdraws 100 and the other 150. */
    void withdraw(String guard, int gapMillis) {
        checkGuard(guard, gapMillis);
        changes.lock();
        try {
            requireQuiet();
            couple.withdraw(address(), guard, gapMillis);
        } finally {
            changes.unlock();
        }
    }

    private URI orders() {
        return address().resolve("/sales/" + SALE + "/orders");
    }

    private void checkSale(String guard, int stock, int gapMillis) {
        Refused.unless(stock >= 1 && stock <= MOST_STOCK, "stock must be 1 to " + MOST_STOCK);
        checkGuard(guard, gapMillis);
    }

    private void checkGuard(String guard, int gapMillis) {
        List<String> guards = Guards.on(storage.store());
        Refused.unless(guards.contains(guard), "guard must be one of " + guards);
        Refused.unless(gapMillis >= 0 && gapMillis <= MOST_GAP, "gapMillis must be 0 to " + MOST_GAP);
    }

    /** Whether the last buyers have their answers. */
    boolean isQuiet() {
        Buyers sent = buyers;
        return (sent == null || sent.isDone()) && couple.isDone();
    }

    private void requireQuiet() {
        Refused.unless(isQuiet(), "the buyers are not done yet");
    }

    /** The servers, and what can be done to them. */
    Servers servers() {
        return servers;
    }

    /** Other problems that locks solve, played by the servers. */
    Scenes scenes() {
        return scenes;
    }

    /** What the page has shown since the sale was opened. */
    Recording recording() {
        return recording;
    }

    /** Takes the lock of the sale from its holder, as if its lease had run out now. */
    void expire() {
        Refused.unless(watch.expire(), "nobody holds a lock of Holdfast");
        strikes.expire();
    }

    /** Cuts the servers off from the store of the locks for some seconds. */
    void cut() {
        storage.requireCuttable(shop.find(SALE).orElseThrow().guard());
        storage.outage().begin(log);
    }

    /** An order has met a fault. */
    private void struck(int server, Faults.Fault fault) {
        if (fault != Faults.Fault.CUT) {
            strikes.count(server, fault);
            return;
        }
        try {
            cut();
        } catch (Refused already) {
            log.accept("the fault did not strike: " + already.getMessage());
        }
    }

    /** Ends everything, also while it starts, and removes what it has written. */
    @Override
    public void close() {
        if (nginx != null) {
            end(nginx::close);
        }
        List.<Runnable>of(balancer::close, watch::close, servers::close, storage::close)
                .forEach(this::end);
    }

    /** A part that fails to end does not keep the others from it. */
    private void end(Runnable part) {
        try {
            part.run();
        } catch (RuntimeException failure) {
            log.accept("the sale did not end cleanly: " + failure.getMessage());
        }
    }
}
