package dev.holdfast.tck.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.fuzz.NameModel.TooWide;
import dev.holdfast.tck.fuzz.Script.Trouble;
import dev.holdfast.testbed.ServerProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/**
 * Random histories on a real store: clients claim, wait, renew, release, look, break and die in an order that nobody
 * thought of, on wires and servers that fail; a model says of each answer whether it is possible, and in the end
 * everybody who lives must get what they wait for. A store is tested by a subclass that says how to open it.
 *
 * <pre>
 *   seed ──► Script ──► History ──► the store, through FuzzClient and its proxy
 *                          │
 *                          └──► NameModel, one for each lock: all states that explain the answers so far
 * </pre>
 *
 * <p>A script that breaks a rule is made as short as it gets and printed with the command that plays it again. Settings,
 * as system properties:
 *
 * <ul>
 *   <li>{@code holdfast.fuzz.seconds}: how long, 20 unless it is given
 *   <li>{@code holdfast.fuzz.seed}: where to begin, 1 unless it is given
 *   <li>{@code holdfast.fuzz.workers}: how many histories at once, 4 unless it is given
 *   <li>{@code holdfast.fuzz.trouble}: {@code none}, {@code wire} or {@code server}, to have only that
 *   <li>{@code holdfast.fuzz.script}: one script, as it was printed, and nothing else
 *   <li>{@code holdfast.fuzz.log}: {@code true} prints all histories line by line
 *   <li>{@code holdfast.fuzz.times}: how often that one is played, 20 unless it is given
 * </ul>
 */
@TestInstance(Lifecycle.PER_CLASS)
public abstract class StoreFuzz {
    private static final int CLIENTS = 4;
    private static final Duration SHRINKING = Duration.ofMinutes(2);
    private static final Duration REPORT = Duration.ofMinutes(1);
    private static final AtomicLong RUNS = new AtomicLong();

    private final FuzzStats stats = new FuzzStats();

    /** For subclasses. */
    protected StoreFuzz() {}

    /**
     * Opens the store for one more client.
     *
     * @param context the client's time and clock, which are wrong
     * @param port the port to use in the place of {@link #port}: a proxy is there; 0 if the store has none
     * @param client from 0 on; what a client may have of its own, such as a time zone, is drawn by it
     * @throws Exception if it cannot be opened
     */
    protected abstract Store open(StoreContext context, int port, int client) throws Exception;

    /** Where the server listens on this machine; empty if there is none. */
    protected OptionalInt port() {
        return OptionalInt.empty();
    }

    /** The server, to stop and to kill; what it answered must survive that. Empty if it can not be killed. */
    protected Optional<ServerProcess> process() {
        return Optional.empty();
    }

    /**
     * Called before the server is killed: has it put on disk what it may forget by its documents, such as a release.
     *
     * @throws Exception if it cannot
     */
    protected void beforeKilling() throws Exception {}

    /** All that is stored under names that begin so; empty if that cannot be told. */
    protected Optional<String> fingerprint(String prefix) throws Exception {
        return Optional.empty();
    }

    /** How long a client that died may keep others waiting beyond its lease, as documented. */
    protected Duration passesTheDead() {
        return Duration.ofSeconds(2);
    }

    /** How long a session lives without a word, if grants are bound to one. */
    protected Duration session() {
        return Duration.ZERO;
    }

    /** After how long an outage must have been told to those who wait. */
    protected Duration wordOfAnOutage() {
        return Duration.ofSeconds(6);
    }

    /** Whether grants can be given a fresh number. */
    protected boolean isExtendable() {
        return false;
    }

    /** Whether a claim that is asked again while it holds keeps its number; otherwise it may get a higher one. */
    protected boolean repeatsKeepNumbers() {
        return true;
    }

    /** Whether a claim may be asked again after it was broken or made a reader. */
    protected boolean repeatsChanged() {
        return true;
    }

    /** Scripts that once broke a rule. */
    protected List<String> regressions() {
        return List.of();
    }

    final boolean isSessionBound() {
        return !session().isZero();
    }

    @Test
    void noHistoryBreaksARule() throws Exception {
        String script = System.getProperty("holdfast.fuzz.script");
        if (script != null) {
            for (int i = 0; i < Integer.getInteger("holdfast.fuzz.times", 20); i++) {
                playOrFail(Script.parse(script), "the given script");
            }
            return;
        }
        long end = System.nanoTime()
                + Duration.ofSeconds(Long.getLong("holdfast.fuzz.seconds", 20)).toNanos();
        AtomicLong seed = new AtomicLong(Long.getLong("holdfast.fuzz.seed", 1));
        boolean servers = process().isPresent() && allows(Trouble.SERVER);
        boolean others = allows(Trouble.NONE) || allows(Trouble.WIRE);
        long third = (end - System.nanoTime()) / 3;
        if (others) {
            fuzz(seed, servers ? end - third : end, Integer.getInteger("holdfast.fuzz.workers", 4), false);
        }
        if (servers) {
            fuzz(seed, end, 1, true);
        }
        System.out.println(getClass().getSimpleName() + ": " + stats);
        if (stats.planned.sum() > 20) {
            assertThat(stats.bitten.sum() * 100 / stats.planned.sum())
                    .as("%% of the faults that bit")
                    .isGreaterThanOrEqualTo(80);
        }
    }

    @Test
    void whatOnceBrokeARuleDoesSoNoMore() throws Exception {
        for (String script : regressions()) {
            playOrFail(Script.parse(script), "an old one");
        }
    }

    private static boolean allows(Trouble trouble) {
        return System.getProperty("holdfast.fuzz.trouble", trouble.name()).equalsIgnoreCase(trouble.name());
    }

    private void fuzz(AtomicLong seeds, long end, int workers, boolean servers) throws Exception {
        AtomicReference<@Nullable Throwable> failed = new AtomicReference<>();
        ExecutorService threads = Executors.newFixedThreadPool(workers);
        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < workers; i++) {
            running.add(threads.submit(() -> work(seeds, end, servers, failed)));
        }
        long report = System.nanoTime() + REPORT.toNanos();
        for (Future<?> each : running) {
            while (!each.isDone()) {
                Thread.sleep(50);
                if (System.nanoTime() > report) {
                    report += REPORT.toNanos();
                    System.out.println(getClass().getSimpleName() + ", seed " + seeds + ": " + stats);
                }
            }
            each.get();
        }
        threads.shutdown();
        Throwable failure = failed.get();
        if (failure != null) {
            throw new AssertionError(failure.getMessage(), failure);
        }
    }

    private @Nullable Void work(
            AtomicLong seeds, long end, boolean servers, AtomicReference<@Nullable Throwable> failed) throws Exception {
        @Nullable FuzzClient[] clients = new FuzzClient[CLIENTS];
        try {
            while (System.nanoTime() < end && failed.get() == null) {
                long seed = seeds.getAndIncrement();
                Trouble trouble = servers
                        ? Trouble.SERVER
                        : port().isPresent() && allows(Trouble.WIRE) && (seed % 4 == 0 || !allows(Trouble.NONE))
                                ? Trouble.WIRE
                                : Trouble.NONE;
                Script script = Script.generate(seed, trouble);
                String found = play(script, clients);
                if (found != null && failed.compareAndSet(null, new AssertionError())) {
                    failed.set(new AssertionError(story(script, found, "seed " + seed)));
                }
            }
        } finally {
            close(clients);
        }
        return null;
    }

    /** Plays it; what was wrong, or null. */
    private @Nullable String play(Script script, @Nullable FuzzClient[] clients) throws Exception {
        String prefix = "fz" + ProcessHandle.current().pid() + "-" + RUNS.incrementAndGet() + "-";
        History history = new History(this, script, stats, clients, prefix);
        boolean reusable = false;
        try {
            history.run();
            stats.histories.increment();
            reusable = script.trouble() == Trouble.NONE;
            if (Boolean.getBoolean("holdfast.fuzz.log")) {
                System.out.println(script + "\n  " + String.join("\n  ", history.log()));
            }
            return null;
        } catch (TooWide e) {
            stats.unjudged.increment();
            return null;
        } catch (AssertionError | RuntimeException e) {
            return e + "\n  " + String.join("\n  ", history.log());
        } finally {
            if (!reusable) {
                close(clients);
            }
        }
    }

    private static void close(@Nullable FuzzClient[] clients) {
        for (int i = 0; i < clients.length; i++) {
            FuzzClient client = clients[i];
            clients[i] = null;
            if (client != null) {
                client.close();
            }
        }
    }

    private void playOrFail(Script script, String which) throws Exception {
        String found = play(script, new FuzzClient[CLIENTS]);
        if (found != null) {
            fail(which + " breaks a rule: " + script + "\n" + found);
        }
    }

    private String story(Script script, String found, String which) throws Exception {
        boolean shrinks = !"false".equals(System.getProperty("holdfast.fuzz.shrink"));
        long end = System.nanoTime() + (shrinks ? SHRINKING.toNanos() : 0);
        Script shortest = script;
        String story = found;
        for (boolean shrunk = true; shrunk && System.nanoTime() < end; ) {
            shrunk = false;
            for (Script shorter : (Iterable<Script>) shortest.shorter()::iterator) {
                String again = System.nanoTime() < end ? play(shorter, new FuzzClient[CLIENTS]) : null;
                if (again != null) {
                    shortest = shorter;
                    story = again;
                    shrunk = true;
                    break;
                }
            }
        }
        return which + " breaks a rule: " + story + "\n\nto play it again: -Dtest="
                + getClass().getSimpleName() + " -Dholdfast.fuzz.script='" + shortest + "'\n\nas it was found: '"
                + script + "'\n" + found;
    }
}
