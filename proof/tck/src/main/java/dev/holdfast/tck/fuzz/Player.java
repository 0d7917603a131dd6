package dev.holdfast.tck.fuzz;

import static org.assertj.core.api.Assertions.fail;

import dev.holdfast.tck.fuzz.Script.Trouble;
import dev.holdfast.testbed.Stalls;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Plays scripts on a store, and makes those short that break a rule. Thread-safe. */
final class Player {
    private static final Duration SHRINKING = Duration.ofMinutes(2);
    private static final AtomicLong RUNS = new AtomicLong();

    private final StoreFuzz target;
    private final FuzzStats stats;

    Player(StoreFuzz target, FuzzStats stats) {
        this.target = target;
        this.stats = stats;
    }

    /** The clients of one history, or of several where nothing went wrong. */
    static final class Clients implements AutoCloseable {
        final @Nullable FuzzClient[] all = new FuzzClient[Script.CLIENTS];

        @Override
        public void close() {
            for (int i = 0; i < all.length; i++) {
                FuzzClient client = all[i];
                all[i] = null;
                if (client != null) {
                    client.close();
                }
            }
        }
    }

    /** What was wrong, or null. */
    @Nullable
    Broken play(Script script, Clients clients) throws Exception {
        History history = history(script, clients);
        Broken found = play(history, script, clients);
        return found == null && script.quiet() ? playWithoutReads(history, script, clients) : found;
    }

    /** Once more, without what only reads: all other answers must be the same. */
    private @Nullable Broken playWithoutReads(History with, Script script, Clients clients) throws Exception {
        Script fewer = script.withoutReads();
        History without = history(fewer, clients);
        Broken found = play(without, fewer, clients);
        if (found != null || with.answers().isEmpty() || without.answers().isEmpty()) {
            return found;
        }
        stats.reach("answers are the same without the reads", true);
        String seen = with.answers().toString();
        String unseen = without.answers().toString();
        if (seen.equals(unseen)) {
            return null;
        }
        List<String> log = new ArrayList<>(with.log());
        log.add("and without the reads:");
        log.addAll(without.log());
        return new Broken(
                script, "status and list change other answers: " + seen + "\n  and without them: " + unseen, log);
    }

    History history(Script script, Clients clients) {
        String prefix = "fz" + ProcessHandle.current().pid() + "-" + RUNS.incrementAndGet() + "-";
        return new History(target, script, stats, clients.all, prefix);
    }

    @Nullable
    Broken play(History history, Script script, Clients clients) throws Exception {
        boolean reusable = false;
        Stalls stalls = Stalls.watch();
        try (stalls) {
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
            if (target.isSessionBound() && stalls.longest() > target.session().toNanos() / 4) {
                stats.unjudged.increment(); // the machine was too busy to keep so short a session
                return null;
            }
            return new Broken(script, e.toString(), List.copyOf(history.log()));
        } finally {
            if (!reusable) {
                clients.close();
            }
        }
    }

    void playOrFail(Script script, String which) throws Exception {
        try (Clients clients = new Clients()) {
            Broken found = play(script, clients);
            if (found != null) {
                fail(new Report(target, which).of(found, found, 0, 0));
            }
        }
    }

    /** Makes the script as short as it gets while it still breaks a rule, and says what happens then and how to see it. */
    String story(Broken found, String which) throws Exception {
        boolean shrinks = !"false".equals(System.getProperty("holdfast.fuzz.shrink"));
        long end = System.nanoTime() + (shrinks ? SHRINKING.toNanos() : 0);
        Broken shortest = found;
        int plays = 0;
        int broken = 0;
        Iterator<Script> shorter = found.script().shorter().iterator();
        while (shorter.hasNext() && System.nanoTime() < end) {
            plays++;
            try (Clients clients = new Clients()) {
                Broken again = play(shorter.next(), clients);
                if (again != null) {
                    broken++;
                    shortest = again;
                    shorter = again.script().shorter().iterator();
                }
            }
        }
        return new Report(target, which).of(found, shortest, plays, broken);
    }
}
