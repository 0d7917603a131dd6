package dev.holdfast.flashsale;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Buyers who come all at once, or one after the other in an order that is drawn from a seed. Each sends its order, with
 * one idempotency key, until it is answered by "got it" or "sold out", for half a minute at most; so a server that dies
 * in between costs it time and not its ticket. Thread-safe.
 */
final class Buyers {
    /** Their number at one time. */
    static final int MOST = 1000;

    static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final long SHORTEST_PAUSE = 50; // milliseconds
    private static final int BAD_REQUEST = 400;

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final URI orders;
    private final long started = System.nanoTime();
    private final int count;
    private final long patience; // in nanoseconds
    private final AtomicInteger done = new AtomicInteger();
    private final Queue<Long> waits = new ConcurrentLinkedQueue<>();
    private final Map<String, Integer> answers = new ConcurrentHashMap<>();
    private volatile long lastAnswer = started;

    private Buyers(URI orders, int count, Duration patience) {
        this.orders = orders;
        this.count = count;
        this.patience = patience.toNanos();
    }

    /** A buyer with an order; its pauses are drawn from the seed, too. */
    private record Buyer(String key, String body, SplittableRandom pauses, long since) {}

    /** Who comes when. */
    record Arrival(String key, long millis, SplittableRandom pauses) {}

    /** Draws so many, each with its key, its moment and the source of its pauses. */
    static List<Arrival> draw(int count, int withinMillis, SplittableRandom random) {
        return Stream.generate(() -> new Arrival(
                        new UUID(random.nextLong(), random.nextLong()).toString(),
                        withinMillis == 0 ? 0 : random.nextInt(withinMillis),
                        random.split()))
                .limit(count)
                .toList();
    }

    /** Sends so many with the same order at once, who give up after some time. */
    static Buyers send(URI orders, int count, String body, Duration patience) {
        return send(orders, Collections.nCopies(count, body), 0, new SplittableRandom(), patience);
    }

    /** Sends one for each order at once. */
    static Buyers send(URI orders, List<String> bodies) {
        return send(orders, bodies, 0, new SplittableRandom());
    }

    /**
     * Sends one for each order.
     *
     * @param withinMillis the time in which all of them come
     * @param random draws their keys, the moment at which each comes, and the pauses between their attempts
     */
    static Buyers send(URI orders, List<String> bodies, int withinMillis, SplittableRandom random) {
        return send(orders, bodies, withinMillis, random, PATIENCE);
    }

    private static Buyers send(
            URI orders, List<String> bodies, int withinMillis, SplittableRandom random, Duration patience) {
        Buyers buyers = new Buyers(orders, bodies.size(), patience);
        Iterator<String> body = bodies.iterator();
        for (Arrival each : draw(bodies.size(), withinMillis, random)) {
            String order = body.next();
            after(each.millis(), () -> buyers.send(new Buyer(each.key(), order, each.pauses(), System.nanoTime())));
        }
        return buyers;
    }

    private static void after(long millis, Runnable action) {
        if (millis == 0) {
            action.run();
        } else {
            CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS).execute(action);
        }
    }

    private void send(Buyer buyer) {
        HttpRequest request = HttpRequest.newBuilder(orders)
                .header("Idempotency-Key", buyer.key())
                .header("Content-Type", "application/json")
                .timeout(Duration.ofSeconds(15))
                .POST(HttpRequest.BodyPublishers.ofString(buyer.body()))
                .build();
        CompletableFuture<Void> unused = http.sendAsync(request, BodyHandlers.discarding())
                .handle((answer, failure) -> {
                    answered(buyer, answer, failure);
                    return null;
                });
    }

    private void answered(Buyer buyer, @Nullable HttpResponse<Void> answer, @Nullable Throwable failure) {
        int status = answer == null ? 0 : answer.statusCode();
        answers.merge(answer == null ? name(failure) : Integer.toString(status), 1, Integer::sum);
        boolean isFinal = status == 201 || (status >= BAD_REQUEST && status < 429);
        long now = System.nanoTime();
        if (isFinal || now - buyer.since() > patience) {
            if (isFinal) {
                waits.add(now - buyer.since());
            } else {
                answers.merge("gave up", 1, Integer::sum);
            }
            lastAnswer = now;
            done.incrementAndGet();
            return;
        }
        long pause = SHORTEST_PAUSE + buyer.pauses().nextLong(4 * SHORTEST_PAUSE);
        after(pause, () -> send(buyer));
    }

    private static String name(@Nullable Throwable failure) {
        Throwable cause = failure != null && failure.getCause() != null ? failure.getCause() : failure;
        return cause instanceof IOException ? "no answer" : "failed";
    }

    boolean isDone() {
        return done.get() == count;
    }

    /**
     * How they fare.
     *
     * @param count their number
     * @param done the number of those who need no other answer
     * @param answers the number of answers by status
     * @param perSecond the orders that were taken, by second
     * @param medianMillis how long half of them waited at most
     * @param p99Millis how long 99 of 100 waited at most
     */
    record Figures(
            int count,
            int done,
            Map<String, Integer> answers,
            double perSecond,
            double medianMillis,
            double p99Millis) {}

    Figures figures() {
        List<Long> sorted = waits.stream().sorted().toList();
        long nanos = Math.max(1, (isDone() ? lastAnswer : System.nanoTime()) - started);
        double perSecond = answers.getOrDefault("201", 0) * 1e9 / nanos;
        return new Figures(
                count, done.get(), new TreeMap<>(answers), perSecond, millis(sorted, 0.5), millis(sorted, 0.99));
    }

    private static double millis(List<Long> sorted, double quantile) {
        return sorted.isEmpty() ? 0 : sorted.get((int) Math.ceil(quantile * sorted.size()) - 1) / 1e6;
    }
}
