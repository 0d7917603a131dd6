package dev.holdfast.internal;

import dev.holdfast.Capabilities;
import dev.holdfast.ClientClosedException;
import dev.holdfast.ClientStatistics;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockListener;
import dev.holdfast.LockMode;
import dev.holdfast.LockStatus;
import dev.holdfast.LockWaiter;
import dev.holdfast.Loss;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.ThreadLock;
import dev.holdfast.UnsupportedByStoreException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.TimeSource.Scheduled;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The engine of one client: brings callers, local queues, renewer and store together. Thread-safe.
 */
public final class Engine {
    private static final Duration SELF_WAIT_PATIENCE = Duration.ofSeconds(3);
    private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(5);
    private static final AtomicLong CLIENTS = new AtomicLong();

    private final Store store;
    private final TimeSource time;
    private final @Nullable SystemTime ownTime;
    private final Names names;
    private final ClientIdentity host;
    private final Executor executor;
    private final BiConsumer<String, Runnable> beforeSending;
    private final Consumer<CompletableFuture<?>> awaiting;
    private final Consumer<Object> parking;
    private final Supplier<ClaimId> ids;
    private final Capabilities capabilities;
    private final String description;
    private final LeaseRenewer renewer;
    private final EventDispatcher dispatcher;
    private final Telemetry telemetry;
    private final Reachability reachability;
    private final ReleaseSender releaseSender;
    private final GrantRefresher refresh;
    /** The queues of this client by the name in the store, for each way to hold it. */
    private final Map<LockMode, ConcurrentHashMap<String, WaitQueue>> queues = new EnumMap<>(LockMode.class);

    private final AtomicLong highestNumber = new AtomicLong();
    private final AtomicBoolean closed = new AtomicBoolean();

    private Engine(
            Store store,
            TimeSource time,
            @Nullable SystemTime ownTime,
            Names names,
            ClientIdentity host,
            Environment seams,
            EventDispatcher dispatcher,
            Counters counters,
            Duration outageLimit) {
        for (LockMode kind : LockMode.values()) {
            queues.put(kind, new ConcurrentHashMap<>());
        }
        this.description = store.description();
        this.telemetry = new Telemetry(counters, dispatcher, time, description);
        this.beforeSending = store::beforeSending;
        CountingStore counted = new CountingStore(store, description, counters, time);
        this.reachability = new Reachability(counted, time, telemetry, outageLimit, new Waits());
        counted.report(reachability);
        this.store = counted;
        this.time = time;
        this.ownTime = ownTime;
        this.names = names;
        this.host = host;
        this.executor = seams.completing();
        this.awaiting = seams.awaiting();
        this.parking = seams.parking();
        this.ids = seams.ids();
        this.capabilities = store.capabilities();
        this.renewer = new LeaseRenewer(this.store, time, telemetry);
        this.dispatcher = dispatcher;
        this.releaseSender = new ReleaseSender(this.store, time, telemetry);
        this.refresh = new GrantRefresher(this.store);
    }

    /**
     * Opens a store and an engine on it.
     *
     * @param seams its time, its threads and its ids
     * @param outageLimit how long callers without a time limit wait while the store does not answer
     */
    public static Engine open(
            Function<TimeSource, Store> opener,
            Environment seams,
            String namespace,
            String label,
            List<LockListener> listeners,
            Duration outageLimit) {
        String client = "holdfast-" + CLIENTS.incrementAndGet();
        TimeSource given = seams.time();
        SystemTime own = given == null ? new SystemTime(client + "-timer") : null;
        TimeSource time = own != null ? own : Objects.requireNonNull(given);
        Store store = null;
        try {
            store = opener.apply(time);
            Counters counters = new Counters();
            Executor telling = seams.telling();
            EventDispatcher dispatcher = telling == null
                    ? EventDispatcher.onOwnThread(
                            listeners, client + "-listeners", store.description(), counters.droppedEvents)
                    : new EventDispatcher(listeners, telling, () -> {}, store.description(), counters.droppedEvents);
            Engine engine = new Engine(
                    store,
                    time,
                    own,
                    new Names(namespace),
                    new ClientIdentity(label),
                    seams,
                    dispatcher,
                    counters,
                    outageLimit);
            store.listen(engine.new FromStore());
            return engine;
        } catch (RuntimeException | Error e) {
            if (store != null) {
                store.close();
            }
            if (own != null) {
                own.close();
            }
            throw e;
        }
    }

    // ---- for the API ----

    /** The name of a lock to be held so, checked; refused where the store cannot, and once the client is closed. */
    public LockName name(String name, Mode mode) {
        throwIfClosed();
        if (!capabilities.modes().contains(mode.kind())) {
            String lacking = switch (mode.kind()) {
                case EXCLUSIVE -> "exclusive locks";
                case SHARED -> "read-write locks";
                case PERMITS -> "semaphores";
            };
            throw new UnsupportedByStoreException(
                    store.description() + " has no " + lacking + ", so none for '" + name + "': use another store");
        }
        return names.of(name, mode);
    }

    /** Waits until it is granted or the thread is interrupted. */
    public HoldHandle acquire(LockName name, HoldOptions options) throws InterruptedException {
        Optional<HoldHandle> hold = Acquisition.interruptibly(this, name, options, false, null);
        return hold.orElseThrow(IllegalStateException::new);
    }

    /** Tries once. */
    public Optional<HoldHandle> tryAcquire(LockName name, HoldOptions options) {
        return Acquisition.once(this, name, options, false);
    }

    /** Waits for a time. */
    public Optional<HoldHandle> tryAcquire(LockName name, HoldOptions options, Duration wait)
            throws InterruptedException {
        Durations.checkWait(wait);
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return wait.isZero() ? tryAcquire(name, options) : Acquisition.interruptibly(this, name, options, false, wait);
    }

    /**
     * Acquires without a thread, waiting as long as it takes.
     *
     * @param giveBack what happens to a hold that comes when the future is complete already
     */
    public <H> CompletableFuture<H> acquireAsync(
            LockName name, HoldOptions options, Function<HoldHandle, H> wrap, Consumer<H> giveBack) {
        return acquireAsync(name, options, executor, wrap, giveBack);
    }

    /** Acquires without a thread, waiting as long as it takes; the future completes on an executor of its own. */
    public <H> CompletableFuture<H> acquireAsync(
            LockName name,
            HoldOptions options,
            Executor completing,
            Function<HoldHandle, H> wrap,
            Consumer<H> giveBack) {
        refuseThreads(options);
        return AsyncAcquisition.start(this, name, options, completing, wrap, giveBack, null);
    }

    /** Acquires without a thread, waiting for a time. */
    public <H> CompletableFuture<Optional<H>> tryAcquireAsync(
            LockName name, HoldOptions options, Duration wait, Function<HoldHandle, H> wrap, Consumer<H> giveBack) {
        Durations.checkWait(wait);
        refuseThreads(options);
        return AsyncAcquisition.start(
                this,
                name,
                options,
                executor,
                anchor -> Optional.of(wrap.apply(anchor)),
                hold -> hold.ifPresent(giveBack),
                new AsyncAcquisition.Limit<>(wait, Optional.empty()));
    }

    private static void refuseThreads(HoldOptions options) {
        if (options.reentrant()) {
            throw new IllegalStateException("re-entrant holds belong to threads; a future has none");
        }
    }

    /** The lock as {@link java.util.concurrent.locks.Lock}. */
    public ThreadLock javaLock(LockName name, HoldOptions options) {
        return new JavaLock(this, name, options.reentrant(true));
    }

    /** Both sides of a lock as {@link ReadWriteLock}. */
    public ReadWriteLock javaReadWriteLock(LockName name, HoldOptions options) {
        return new ReadWriteView(javaLock(name.as(Mode.SHARED), options), javaLock(name.as(Mode.EXCLUSIVE), options));
    }

    /** Tries once for all of several names. */
    public Optional<List<HoldHandle>> tryAcquireAll(List<LockName> names, HoldOptions options) {
        return MultiAcquisition.tryAcquire(this, names, options);
    }

    /** Waits for all of several names, for a time or, where that is null, as long as it takes. */
    public Optional<List<HoldHandle>> acquireAll(List<LockName> names, HoldOptions options, @Nullable Duration wait)
            throws InterruptedException {
        return MultiAcquisition.acquire(this, names, options, wait);
    }

    /** Acquires all of several names without a thread, waiting as long as it takes. */
    public <H> CompletableFuture<H> acquireAllAsync(
            List<LockName> names, HoldOptions options, Function<List<HoldHandle>, H> wrap) {
        refuseThreads(options);
        return AsyncMultiAcquisition.start(this, names, options, wrap, null);
    }

    /** Acquires all of several names without a thread, waiting for a time. */
    public <H> CompletableFuture<Optional<H>> tryAcquireAllAsync(
            List<LockName> names, HoldOptions options, Duration wait, Function<List<HoldHandle>, H> wrap) {
        Durations.checkWait(wait);
        refuseThreads(options);
        return AsyncMultiAcquisition.start(
                this,
                names,
                options,
                anchors -> Optional.of(wrap.apply(anchors)),
                new AsyncAcquisition.Limit<>(wait, Optional.empty()));
    }

    /** What the store knows of a lock. */
    public LockStatus status(LockName name) {
        throwIfClosed();
        String inStore = name.inStore();
        String doing = "could not ask for the status of '" + name + "'";
        return names.inClient(afterOwnReleases(inStore, () -> store.status(inStore), doing));
    }

    /** The locks whose names match. */
    public List<LockStatus> list(String pattern) {
        throwIfClosed();
        Pattern glob = Names.glob(pattern);
        String doing = "could not list '" + pattern + "'";
        return afterOwnReleases(null, () -> store.list(names.prefixOf(pattern)), doing).stream()
                .map(names::inClient)
                .filter(status -> glob.matcher(status.name()).matches())
                .toList();
    }

    /** Those that wait for locks whose names match; empty where the store keeps no names of waiters. */
    public Optional<List<LockWaiter>> waiters(String pattern) {
        throwIfClosed();
        Pattern glob = Names.glob(pattern);
        String doing = "could not list who waits for '" + pattern + "'";
        return afterOwnReleases(null, () -> store.waiters(names.prefixOf(pattern)), doing)
                .map(all -> all.stream()
                        .map(names::inClient)
                        .filter(waiter -> glob.matcher(waiter.name()).matches())
                        .toList());
    }

    /** Breaks the grant that a token belongs to. */
    public boolean breakGrant(String name, long token, boolean now) {
        throwIfClosed();
        String inStore = names.of(name, Mode.EXCLUSIVE).inStore();
        return afterOwnReleases(
                inStore, () -> store.breakGrant(inStore, Tokens.number(token), now), "could not break '" + name + "'");
    }

    /**
     * Asks the store something, and waits for its answer, once it has heard of what this client gave back before: of one
     * name, or of all where that is null.
     */
    private <T> T afterOwnReleases(@Nullable String inStore, Supplier<CompletionStage<T>> question, String doing) {
        List<CompletableFuture<Void>> sent = new ArrayList<>();
        allQueues()
                .filter(queue -> inStore == null || queue.name().inStore().equals(inStore))
                .forEach(queue -> {
                    CompletableFuture<Void> behind = new CompletableFuture<>();
                    sent.add(behind);
                    queue.claimBehind(() -> behind.complete(null));
                });
        CompletableFuture<T> answer = CompletableFuture.allOf(sent.toArray(CompletableFuture<?>[]::new))
                .thenCompose(all -> releaseSender.settled(inStore))
                .thenCompose(all -> ReleaseSender.guarded(question));
        awaiting.accept(answer);
        return Failures.await(answer, doing);
    }

    /** Throws if the store does not answer now; waits for it to say so. */
    void throwIfUnreachable(LockName name) {
        CompletableFuture<Void> proof = proof(name);
        awaiting.accept(proof);
        Failures.await(proof, "could not enter '" + name + "' again");
    }

    /** What was done and is done now. */
    public ClientStatistics statistics() {
        return telemetry.statistics();
    }

    /** What the store can do. */
    public Capabilities capabilities() {
        return capabilities;
    }

    /** The store, for messages. */
    public String storeDescription() {
        return description;
    }

    /** See {@link dev.holdfast.LockClient#close}. */
    public void close() {
        if (beginClose()) {
            releaseSender.awaitQuiet(CLOSE_PATIENCE, this::hasNoQueues);
            endClose();
        }
    }

    /** Takes nobody in any more and gives everything back, without waiting; false if it was closed before. */
    boolean beginClose() {
        if (!closed.compareAndSet(false, true)) {
            return false;
        }
        allQueues().forEach(queue -> queue.shutDown(closedException()));
        return true;
    }

    /** All queues of this client. */
    Stream<WaitQueue> allQueues() {
        return queues.values().stream().flatMap(sameMode -> sameMode.values().stream());
    }

    /** Whether a close that has begun has nothing more to wait for. */
    boolean isQuiet() {
        return releaseSender.isQuiet() && hasNoQueues();
    }

    private boolean hasNoQueues() {
        return queues.values().stream().allMatch(Map::isEmpty);
    }

    /** What is left to do when all is quiet, or patience has run out. */
    void endClose() {
        renewer.close();
        releaseSender.close();
        try {
            store.close();
        } finally {
            dispatcher.close();
            if (ownTime != null) {
                ownTime.close();
            }
        }
    }

    // ---- for the local locks ----

    Store store() {
        return store;
    }

    LeaseRenewer renewer() {
        return renewer;
    }

    EventDispatcher dispatcher() {
        return dispatcher;
    }

    Telemetry telemetry() {
        return telemetry;
    }

    GrantRefresher refresh() {
        return refresh;
    }

    /** Runs a short task that never blocks, once, after a time. */
    public Scheduled after(Duration delay, Runnable task) {
        return time.schedule(task, delay);
    }

    /** A time to wait, checked, in nanoseconds. */
    public long nanosOfWait(Duration wait) {
        Durations.checkWait(wait);
        return Durations.nanos(wait);
    }

    TimeSource time() {
        return time;
    }

    /** Brings a waiter to the queue of its lock. */
    WaitQueue submit(LockName name, Waiter waiter) {
        throwIfClosed();
        telemetry.waiting(name, waiter);
        while (true) {
            WaitQueue queue = queueFor(name);
            if (queue.submit(waiter)) {
                reachability.waiting();
                if (closed.get()) {
                    queue.shutDown(closedException());
                }
                return queue;
            }
            queue.forgetIfRetired();
        }
    }

    private WaitQueue queueFor(LockName name) {
        return of(name.mode().kind())
                .computeIfAbsent(
                        name.inStore(),
                        absent -> name.mode().kind() == LockMode.EXCLUSIVE
                                ? new ExclusiveQueue(this, name)
                                : new SharedQueue(this, name));
    }

    private ConcurrentHashMap<String, WaitQueue> of(LockMode kind) {
        return Objects.requireNonNull(queues.get(kind));
    }

    /** The queue of those who want a name so, while somebody wants or has it. */
    @Nullable
    WaitQueue queue(String inStore, LockMode kind) {
        return of(kind).get(inStore);
    }

    /** Gives a grant with its hold to the readers of a name; returns what is to be done after all mutexes are free. */
    Runnable adoptAsReader(LockName name, GrantState live, HoldState hold) {
        while (true) {
            SharedQueue readers = (SharedQueue) queueFor(name.as(Mode.SHARED));
            Runnable then = readers.adopt(live, hold);
            if (then != null) {
                return then;
            }
            retired(readers); // in this moment, and another takes its place
        }
    }

    /** Has the store let readers of other clients in beside the holder of a grant. If it does not, they wait: safe. */
    void loosen(Grant grant) {
        ReleaseSender.guarded(() -> store.downgrade(grant));
    }

    /** A queue nobody is in any more. */
    void retired(WaitQueue queue) {
        of(queue.name().mode().kind()).remove(queue.name().inStore(), queue);
    }

    Claim claimFor(LockName name, Waiter asker) {
        Thread thread = asker.thread;
        String who = thread == null ? "async" : thread.getName();
        return new Claim(
                ids.get(),
                List.of(name.inStore()),
                asker.mode,
                asker.options.lease(),
                asker.waits,
                highestNumber.get(),
                host.holder(who));
    }

    /** Makes a claim, behind the releases of this client's grants by which the name was held in another way. */
    void send(ClaimInFlight claim, LockName name) {
        Runnable send = () -> claim.sendTo(store, time);
        for (Map<String, WaitQueue> sameMode : queues.values()) {
            WaitQueue queue = sameMode.get(name.inStore());
            if (queue != null && queue.name().mode().kind() != name.mode().kind()) {
                Runnable then = send;
                send = () -> queue.claimBehind(then);
            }
        }
        send.run();
    }

    /** A grant number that any later one of this client must be above. */
    void saw(long number) {
        highestNumber.accumulateAndGet(number, Math::max);
    }

    GrantState live(WaitQueue queue, Grant grant, ClaimInFlight claim) {
        if (Tokens.isNumber(grant.number())) {
            saw(grant.number());
        }
        HoldOptions options = claim.asker.options;
        GrantState live = new GrantState(queue, grant, options.autoRenew(), capabilities, time, claim.wallLead());
        live.beginLease(options);
        return live;
    }

    /** Why a grant that just came cannot be used; empty when it can. */
    Optional<Throwable> whyNot(GrantState grant, ClaimInFlight claim) {
        if (isClosed()) {
            return Optional.of(closedException());
        }
        if (grant.hasRunOut()) {
            return Optional.of(new StoreUnavailableException(
                    storeDescription() + " took longer to answer than the lease it granted; use a longer lease"));
        }
        if (!claim.claim.waits() && grant.hasSlept()) {
            return Optional.of(new StoreUnavailableException(
                    "the machine slept while " + storeDescription() + " was asked; try again"));
        }
        if (!claim.claim.waits() && (claim.isKnownLost() || claim.isInDoubt())) {
            return Optional.of(new StoreUnavailableException(
                    "the session or connection to " + storeDescription() + " broke while it was asked; try again"));
        }
        return whyBroken(grant, claim.claim.lease());
    }

    private Optional<Throwable> whyBroken(GrantState grant, Duration asked) {
        Duration lease = grant.grant().lease();
        if (!grant.isSessionBound() && !lease.equals(asked)) {
            return Optional.of(new StoreRefusedException(
                    storeDescription() + " gave a lease of " + Durations.text(lease) + " where " + Durations.text(asked)
                            + " was asked for: report this to whoever made the store"));
        }
        long number = grant.grant().number();
        return Tokens.isNumber(number)
                ? Optional.empty()
                : Optional.of(new StoreRefusedException(storeDescription() + " gave the grant number " + number
                        + ", from which no token can be made: its counter was damaged, or set by hand"));
    }

    HoldState hold(GrantState grant, String name, Waiter taker) {
        return new HoldState(grant, name, taker, renewer.leaks(), time.nanoTime());
    }

    /** Gives a grant back to the store; completes with whether it had still been there. */
    CompletableFuture<Boolean> giveBack(GrantState grant, @Nullable HoldState last) {
        return releaseSender.release(grant, last);
    }

    /**
     * Gives a grant back, and completes once a claim may follow: with the answer or, where requests take effect in the
     * order in which they are made, as soon as this one is.
     */
    CompletableFuture<Boolean> giveBackBeforeClaims(GrantState grant, @Nullable HoldState last) {
        CompletableFuture<Boolean> answer = giveBack(grant, last);
        return capabilities.ordered() ? CompletableFuture.completedFuture(true) : answer;
    }

    /** Does something once the store sends, which must happen: at once where the store cannot say when that is. */
    void beforeSending(LockName name, Runnable task) {
        AtomicBoolean done = new AtomicBoolean();
        Runnable once = () -> {
            if (done.compareAndSet(false, true)) {
                task.run();
            }
        };
        try {
            beforeSending.accept(name.inStore(), once);
        } catch (RuntimeException | Error broken) {
            once.run();
        }
    }

    /** Proves that the store answers, by a question about a name if need be; fails if it does not. */
    CompletableFuture<Void> proof(LockName name) {
        return reachability.proof(name.inStore());
    }

    /** Does something once a store that owes its answer was given time enough. */
    Scheduled afterLongestProof(Runnable task) {
        return time.schedule(task, reachability.longestProof());
    }

    /** What a caller hears of a store that owes its answer for so long. */
    StoreUnavailableException noProof() {
        return new StoreUnavailableException(description + " did not answer within "
                + Durations.text(reachability.longestProof()) + " to what came of the wait; see that it is up");
    }

    /** Clears what a claim of unknown outcome may have left. */
    void withdraw(Claim claim) {
        releaseSender.withdraw(claim);
    }

    /** Waits for a future, as a caller's thread. */
    <T> T await(CompletableFuture<T> future) {
        awaiting.accept(future);
        return future.join();
    }

    /** How a thread parks that waits for its turn. */
    Consumer<Object> parking() {
        return parking;
    }

    /** Waits until the store has confirmed the release of a hold that was just closed. */
    void awaitRelease(HoldState hold) {
        boolean wasHeld;
        try {
            wasHeld = await(hold.grant.released());
        } catch (RuntimeException failed) {
            return; // logged; the lease bounds it
        }
        if (!wasHeld && hold.isLost()) {
            throw new HoldLostException(hold.loss());
        }
    }

    /** Warns, if a thread still waits after a while for a lock that it holds itself. */
    void watchSelfWait(HoldState held, Waiter waiter) {
        time.schedule(
                () -> {
                    if (held.isOpen() && waiter.outcome() == null) {
                        Log.warn(() -> SelfWait.message(held, waiter, storeDescription()));
                    }
                },
                SELF_WAIT_PATIENCE);
    }

    void throwIfClosed() {
        if (closed.get()) {
            throw closedException();
        }
    }

    boolean isClosed() {
        return closed.get();
    }

    ClientClosedException closedException() {
        return new ClientClosedException("the client of " + store.description() + " is closed; make a new one");
    }

    /** The callers of this client who wait, whatever for. */
    private final class Waits implements Reachability.Waits {
        @Override
        public @Nullable String waitedForSince(long nanos) {
            return allQueues()
                    .filter(queue -> queue.hasWaitedSince(nanos))
                    .map(queue -> queue.name().inStore())
                    .findFirst()
                    .orElse(null);
        }

        @Override
        public @Nullable String waitedFor() {
            return allQueues()
                    .filter(queue -> !queue.waiters.isEmpty())
                    .map(queue -> queue.name().name())
                    .findFirst()
                    .orElse(null);
        }

        @Override
        public void failSince(long nanos, StoreUnavailableException why) {
            allQueues().forEach(queue -> queue.failSince(nanos, why));
        }
    }

    private final class FromStore implements StoreListener {
        @Override
        public void lost(Grant grant) {
            GrantState live = find(grant, ClaimInFlight::reportedLost);
            if (live != null) {
                renewer.lose(live, Loss.Cause.STORE);
            }
        }

        @Override
        public void suspect(Grant grant) {
            GrantState live = find(grant, ClaimInFlight::reportedSuspect);
            if (live != null) {
                renewer.doubt(live);
            }
        }

        @Override
        public void unreachable(String name, Throwable why) {
            reachability.unreachable(why);
        }

        @Override
        public void reachable() {
            reachability.answered();
        }

        /** The grant as the renewer knows it; null if its claim's answer is not handled yet, and then that is told. */
        private @Nullable GrantState find(Grant grant, Consumer<ClaimInFlight> news) {
            GrantState live = renewer.find(grant);
            WaitQueue queue = live == null ? queue(grant.name(), grant.mode().kind()) : null;
            if (queue == null) {
                return live;
            }
            queue.heard(grant.id(), news);
            return renewer.find(grant); // the answer may have been handled in between
        }
    }
}
