package dev.holdfast.bench.run;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What a worker does for the figures that are no rounds: keep many holds, use many names, wait alone. It answers with
 * numbers.
 *
 * @param task which of them
 * @param url the store
 * @param count how many holds or names
 * @param settle how long it goes on before it counts, so that the JVM has compiled what runs
 * @param length how long it counts
 */
record Errand(Task task, String url, int count, Duration settle, Duration length) {
    static final String COMMAND = "errand\t";
    private static final String SEPARATOR = "\t";
    private static final int WARM_UP_NAMES = 2_000;
    private static final int WARM_UP_HOLDS = 10_000;
    private static final Duration WARM_UP_LEASE = Duration.ofSeconds(5);
    private static final int COLLECTIONS = 5;
    private static final String HELD = "held-long";

    /** What there is to do. */
    enum Task {
        /**
         * Keeps holds; answers with the share of a core that took, how many were valid at the end, and by how many bytes
         * the heap grew.
         */
        KEEP,
        /** Locks names once each; answers with the bytes of heap in use before and after, and how many names it was. */
        NAMES,
        /** Holds one lock all the time; says so first, and answers with nothing. */
        HOLD,
        /** Answers with the bytes of heap in use after a collection. */
        HEAP,
        /** Waits for that lock; answers with the share of a core that took. */
        WAIT
    }

    String toLine() {
        return COMMAND
                + String.join(
                        SEPARATOR,
                        task.name(),
                        url,
                        Integer.toString(count),
                        Long.toString(settle.toNanos()),
                        Long.toString(length.toNanos()));
    }

    static Errand parse(String line) {
        String[] words = line.split(SEPARATOR);
        return new Errand(
                Task.valueOf(words[1]),
                words[2],
                Integer.parseInt(words[3]),
                Duration.ofNanos(Long.parseLong(words[4])),
                Duration.ofNanos(Long.parseLong(words[5])));
    }

    /** For a worker that has clients of its own. */
    static Errand heap() {
        return new Errand(Task.HEAP, "-", 0, Duration.ZERO, Duration.ZERO);
    }

    List<Double> run() throws InterruptedException {
        if (task == Task.HEAP) {
            return List.of(usedHeap());
        }
        try (LockClient client = LockClient.connect(url)) {
            return switch (task) {
                case KEEP -> keep(client);
                case NAMES -> use(client);
                case HOLD -> hold(client);
                case WAIT -> await(client);
                case HEAP -> List.of();
            };
        }
    }

    private List<Double> keep(LockClient client) throws InterruptedException {
        warmUpRenewals(client);
        double before = usedHeap();
        List<Hold> holds = acquireAll(client, "kept-", count, HoldOptions.defaults());
        double share = shareOfACore();
        double growth = usedHeap() - before;
        double valid = holds.stream().filter(Hold::isValid).count();
        holds.forEach(Hold::close);
        return List.of(share, valid, growth);
    }

    /**
     * Renews six times as often for a while. Holds of 30 s are renewed three times in 30 s, so that otherwise the compilers of
     * a JVM would be at work on the renewal for minutes, and take more time than it does.
     */
    private void warmUpRenewals(LockClient client) throws InterruptedException {
        int some = Math.min(count, WARM_UP_HOLDS);
        List<Hold> holds =
                acquireAll(client, "brief-", some, HoldOptions.defaults().lease(WARM_UP_LEASE));
        Schedule.pause(settle);
        for (Hold hold : holds) {
            try {
                hold.close();
            } catch (HoldLostException lost) {
                // It was only to warm up; those that are counted must be valid.
            }
        }
    }

    private static List<Hold> acquireAll(LockClient client, String prefix, int count, HoldOptions options)
            throws InterruptedException {
        List<Hold> holds = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            holds.add(client.lock(prefix + i, options).acquire());
        }
        return holds;
    }

    private List<Double> use(LockClient client) throws InterruptedException {
        int unused = lockOnce(client, "warm-", WARM_UP_NAMES, Long.MAX_VALUE);
        double before = usedHeap();
        double names = lockOnce(client, "once-", count, System.nanoTime() + length.toNanos());
        return List.of(before, usedHeap(), names);
    }

    private List<Double> hold(LockClient client) throws InterruptedException {
        try (Hold hold = client.lock(HELD).acquire()) {
            System.out.println(Worker.READY);
            Schedule.pause(settle.plus(length));
            return List.of(hold.isValid() ? 1.0 : 0.0);
        }
    }

    private List<Double> await(LockClient client) throws InterruptedException {
        Thread waiting = new Thread(
                () -> {
                    try {
                        client.lock(HELD).acquire().close();
                    } catch (InterruptedException e) {
                        // The figure is taken by then.
                    }
                },
                "waiting");
        waiting.start();
        double share = shareOfACore();
        boolean waited = waiting.isAlive();
        waiting.interrupt();
        waiting.join();
        return List.of(waited ? share : Double.NaN);
    }

    private double shareOfACore() {
        Schedule.pause(settle);
        long cpu = Worker.cpuNanos();
        long began = System.nanoTime();
        Schedule.pause(length);
        return (double) (Worker.cpuNanos() - cpu) / (System.nanoTime() - began);
    }

    private static int lockOnce(LockClient client, String prefix, int count, long until) throws InterruptedException {
        int done = 0;
        while (done < count && (until == Long.MAX_VALUE || System.nanoTime() - until < 0)) {
            client.lock(prefix + done++).acquire().close();
        }
        return done;
    }

    private static double usedHeap() {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
            Schedule.pause(Duration.ofMillis(TimeUnit.SECONDS.toMillis(1) / COLLECTIONS));
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }
}
