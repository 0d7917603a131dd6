package dev.holdfast;

import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoredRecord;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.Asked;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Many servers that ask in each period, on one simulated clock. Every server has a real client on a real store in memory;
 * between any two of its requests it may stand still, die, lose an answer, or have its wall clock set.
 *
 * <pre>
 *   the clock ──► a server's turn: a thread of its own, and only one of all runs at a time
 *                    │ at each request to the store, and inside the work: go on, or
 *                    ├── stand still: the clock goes on, the others run, and this one's renewals do not
 *                    ├── lose the request, or its answer
 *                    └── die: nothing it does reaches the store any more; a new process takes its place
 * </pre>
 */
final class OnceWorld implements AutoCloseable {
    static final Duration PERIOD = Duration.ofMinutes(10);
    private static final Duration LEASE = Duration.ofSeconds(10);
    private static final int SLICES = 4;
    private static final long STUCK_SECONDS = 60;

    private final ManualTime time = new ManualTime();
    private final MemoryStore memory = new MemoryStore(time);
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(null, task, "simulated-server", 256 * 1024);
        thread.setDaemon(true);
        return thread;
    });
    private final Random dice;
    private final boolean checksTokens;
    private final Instant end;
    private final Set<Turn> working = new LinkedHashSet<>();
    private final Map<Instant, Set<Long>> completions = new HashMap<>();
    private final Set<Instant> begun = new HashSet<>();

    int asked;
    int crashes;
    int pauses;
    int lostAnswers;
    int validOverlaps;
    int overlaps;
    int refusedEnds;
    private @Nullable Turn current;
    private @Nullable Throwable broken;

    /** The death of a life. */
    private static final class Died extends Error {
        private static final long serialVersionUID = 1L;
    }

    /**
     * A world to run.
     *
     * @param checksTokens whether the store compares tokens and revisions; without, the run is a control
     */
    OnceWorld(long seed, int servers, int periods, boolean checksTokens) {
        this.dice = new Random(seed);
        this.checksTokens = checksTokens;
        this.end = now().plus(PERIOD.multipliedBy(periods));
        for (int i = 0; i < servers; i++) {
            new Server(i).plan();
        }
    }

    /** Runs it to the end. */
    void run() throws Exception {
        while (now().isBefore(end.plus(PERIOD))) {
            time.advance(PERIOD);
            if (broken != null) {
                throw new AssertionError("a simulated server failed", broken);
            }
        }
    }

    /** How many periods had a completion. */
    int completed() {
        return completions.size();
    }

    /** How many periods had more than one. */
    long completedTwice() {
        return completions.values().stream().filter(tokens -> tokens.size() > 1).count();
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }

    private void complete(OnceRun run, long token) {
        completions
                .computeIfAbsent(run.period().orElseThrow().start(), period -> new HashSet<>())
                .add(token);
    }

    private Instant now() {
        return Instant.ofEpochMilli(time.wallMillis());
    }

    private boolean happens(double often) {
        return dice.nextDouble() < often;
    }

    private Duration upTo(Duration most) {
        return Duration.ofMillis(1 + (long) (dice.nextDouble() * most.toMillis()));
    }

    // ---- a server ----

    private final class Server {
        private final int number;
        private Life life;
        private boolean busy;

        Server(int number) {
            this.number = number;
            this.life = new Life();
        }

        /** Asks once in each period, at a moment that its wrong clock says. */
        void plan() {
            Schedule.Period period = Schedule.every(PERIOD).periodAt(now());
            Duration late = happens(0.5) ? upTo(Duration.ofSeconds(3)) : upTo(PERIOD);
            Duration left = Duration.between(now(), period.end()).plus(late);
            time.schedule(this::ask, left);
        }

        private void ask() {
            if (!now().isBefore(end) || broken != null) {
                return;
            }
            plan();
            if (busy) {
                return; // its work of before still runs
            }
            if (life.dead) {
                life = new Life();
            }
            if (happens(0.001)) {
                life.offset += upTo(PERIOD).toMillis() * (happens(0.5) ? 1 : -1);
            }
            asked++;
            busy = true;
            Turn turn = new Turn(this, life);
            if (isDone() && !happens(0.01)) {
                turn.runHere();
            } else {
                turn.start();
            }
        }

        private boolean isDone() {
            Optional<Schedule.Period> due = OnceOptions.every(PERIOD).periodAt(now());
            return completions.containsKey(due.orElseThrow().start());
        }
    }

    /** The life of a server between two crashes: its clock, its client. */
    private final class Life implements TimeSource {
        private final Deque<Runnable> due = new ArrayDeque<>();
        private final Once once;
        long offset = (long) (dice.nextGaussian() * 2 * PERIOD.toMillis());
        boolean still;
        boolean dead;

        Life() {
            LockClient client = LockClient.builder(new Wire(this, memory.open(this)))
                    .time(this)
                    .executor(Runnable::run)
                    .build();
            once = client.once("w", OnceOptions.every(PERIOD).lease(LEASE));
        }

        @Override
        public long nanoTime() {
            return time.nanoTime();
        }

        @Override
        public long wallMillis() {
            return time.wallMillis() + offset;
        }

        /** A process that stands still does nothing, and all at once when it goes on. */
        @Override
        public Scheduled schedule(Runnable task, Duration delay) {
            Turn asking = current;
            if (asking != null && asking.isThisThread() && delay.equals(OnceJournal.RETRY)) {
                asking.pass(delay); // it waits for that with its thread
                task.run();
                return () -> {};
            }
            return time.schedule(
                    () -> {
                        if (still) {
                            due.add(task);
                        } else if (!dead) {
                            task.run();
                        }
                    },
                    delay);
        }

        void goOn() {
            still = false;
            for (Runnable task = due.poll(); task != null && !dead; task = due.poll()) {
                task.run();
            }
        }
    }

    /** One call of {@link Once#run} by a server, on a thread of its own. */
    private final class Turn {
        private final Server server;
        private final Life life;
        private final Semaphore go = new Semaphore(0);
        private final Semaphore back = new Semaphore(0);
        private @Nullable Thread thread;
        private @Nullable OnceTurn work;

        Turn(Server server, Life life) {
            this.server = server;
            this.life = life;
        }

        boolean isThisThread() {
            return Thread.currentThread() == thread;
        }

        /** Without the chance to stand still: for a call that most likely skips. */
        void runHere() {
            call();
        }

        void start() {
            Turn outer = current;
            current = this;
            threads.execute(() -> {
                thread = Thread.currentThread();
                try {
                    call();
                } catch (Throwable failed) {
                    broken = failed;
                } finally {
                    back.release();
                }
            });
            awaitBack();
            current = outer;
        }

        private void call() {
            try {
                OnceResult result = life.once.run(this::work);
                if (checksTokens && result instanceof OnceResult.Ran ran) {
                    complete(ran.run(), ran.run().token());
                }
                if (result instanceof OnceResult.Failed failed) {
                    refusedEnds++;
                    if (!isRefused(failed.cause())) {
                        throw new AssertionError("the work does not fail", failed.cause());
                    }
                }
            } catch (HoldfastException away) {
                // it asks again in the next period
            } catch (Died died) {
                crashes++;
            } finally {
                working.remove(this);
                server.busy = false;
            }
        }

        /** By a later record, which the last question may have failed to read. */
        private boolean isRefused(Throwable cause) {
            return cause instanceof StaleTokenException
                    || (cause instanceof StoreRefusedException
                            && cause.getMessage().contains("its record could not be read: "));
        }

        private void work(OnceTurn turn) {
            work = turn;
            working.add(this);
            begun.add(turn.period().orElseThrow().start());
            try {
                for (int i = 0; i < SLICES; i++) {
                    judge();
                    pass(upTo(Duration.ofSeconds(5)));
                    trouble(0.01, 0.02);
                }
                judge();
            } finally {
                working.remove(this);
            }
        }

        /** Who else works now, and is sure to be alone. */
        private void judge() {
            for (Turn other : working) {
                if (other != this) {
                    overlaps++;
                    if (other.isSure() && isSure()) {
                        validOverlaps++;
                    }
                }
            }
        }

        private boolean isSure() {
            return work != null && work.isValid();
        }

        void trouble(double death, double stillness) {
            if (!isThisThread() || life.dead) {
                return;
            }
            if (happens(death)) {
                life.dead = true;
                throw new Died();
            }
            if (happens(stillness)) {
                pauses++;
                life.still = true;
                pass(upTo(happens(0.7) ? LEASE.multipliedBy(3) : PERIOD.multipliedBy(2)));
                life.goOn();
            }
        }

        /** Lets time pass for this thread, while the others run. */
        void pass(Duration span) {
            if (!isThisThread()) {
                return;
            }
            time.schedule(this::resume, span);
            current = null;
            back.release();
            go.acquireUninterruptibly();
        }

        private void resume() {
            Turn outer = current;
            current = this;
            go.release();
            awaitBack();
            current = outer;
        }

        private void awaitBack() {
            try {
                if (!back.tryAcquire(STUCK_SECONDS, TimeUnit.SECONDS)) {
                    throw new AssertionError("server " + server.number + " waits for something outside the simulation: "
                            + List.of(thread == null ? new StackTraceElement[0] : thread.getStackTrace()));
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    // ---- the way to the store ----

    private final class Wire extends ForwardedStore {
        private final Life life;
        private final Store inner;

        Wire(Life life, Store inner) {
            super(inner);
            this.life = life;
            this.inner = inner;
        }

        @Override
        <T> CompletionStage<T> ask(Supplier<CompletionStage<T>> request) {
            Turn turn = current;
            boolean mine = turn != null && turn.life == life && turn.isThisThread();
            if (mine) {
                turn.trouble(0.002, 0.01);
            }
            if (life.dead || happens(0.001)) {
                lostAnswers++;
                return CompletableFuture.failedFuture(new StoreUnavailableException("the request was lost"));
            }
            CompletionStage<T> answer = request.get();
            if (happens(0.002)) {
                lostAnswers++;
                answer = CompletableFuture.failedFuture(new StoreUnavailableException("the answer was lost"));
            }
            if (mine) {
                turn.trouble(0.002, 0.01);
            }
            return answer;
        }

        @Override
        public Pending claim(Claim claim, Answer answer) {
            List<Pending> sent = new ArrayList<>(1);
            answer.follow(ask(() -> {
                Asked asked = Asked.of(inner, claim);
                sent.add(asked);
                return asked.answer();
            }));
            return () -> sent.forEach(Pending::cancel);
        }

        @Override
        public CompletionStage<Optional<StoredRecord>> writeRecord(RecordWrite write) {
            return ask(() -> inner.writeRecord(checksTokens ? write : admitted(write))
                    .thenApply(written -> {
                        written.ifPresent(stored -> note(write, stored));
                        return written;
                    }));
        }

        /** As a store writes it that compares nothing. */
        private RecordWrite admitted(RecordWrite write) {
            Optional<StoredRecord> last =
                    inner.readRecord(write.name()).toCompletableFuture().join().stored();
            long token =
                    last.map(stored -> Math.max(stored.token(), write.token())).orElse(write.token());
            return new RecordWrite(write.name(), token, RecordWrite.ANY, write.value(), write.keep());
        }

        private void note(RecordWrite write, StoredRecord stored) {
            OnceRun run = OnceRecord.decode(stored).run();
            boolean isRestored = !run.ended().equals(Optional.of(stored.writtenAt()));
            if (run.state() == OnceRun.State.DONE && !isRestored) {
                complete(run, write.token());
            }
        }
    }
}
