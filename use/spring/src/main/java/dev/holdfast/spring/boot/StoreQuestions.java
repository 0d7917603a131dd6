package dev.holdfast.spring.boot;

import dev.holdfast.HoldfastException;
import dev.holdfast.LockClient;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/**
 * Asks the stores of all clients at one time, each on a thread of its own: one that does not answer within a second delays
 * no other. Thread-safe.
 */
final class StoreQuestions {
    private static final long LIMIT_NANOS = Duration.ofSeconds(1).toNanos();

    private final Map<String, Asked> stores = new TreeMap<>();

    /** A store, and the thread that asks it while there is something to ask. */
    private record Asked(LockClient client, ThreadPoolExecutor thread) {}

    private record Question<T>(Asked store, FutureTask<T> task) {}

    StoreQuestions(Map<String, LockClient> clients) {
        clients.forEach((name, client) -> stores.put(name, new Asked(client, thread())));
    }

    private static ThreadPoolExecutor thread() {
        ThreadPoolExecutor one =
                new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, "holdfast-actuator");
                    thread.setDaemon(true);
                    return thread;
                });
        one.allowCoreThreadTimeOut(true);
        return one;
    }

    /**
     * The answers by the names of the clients.
     *
     * @param noAnswer makes the answer where the store gave none, of the reason
     */
    <T> Map<String, T> ask(Function<LockClient, T> question, Function<String, T> noAnswer) {
        long end = System.nanoTime() + LIMIT_NANOS;
        Map<String, Question<T>> asked = new LinkedHashMap<>();
        stores.forEach((name, store) -> {
            FutureTask<T> task = new FutureTask<>(() -> question.apply(store.client));
            asked.put(name, new Question<>(store, task));
            store.thread.execute(task);
        });
        Map<String, T> answers = new LinkedHashMap<>();
        asked.forEach((name, each) -> answers.put(name, answer(each, end, noAnswer)));
        return answers;
    }

    private static <T> T answer(Question<T> asked, long end, Function<String, T> noAnswer) {
        try {
            return asked.task.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof HoldfastException known) {
                return noAnswer.apply(String.valueOf(known.getMessage()));
            }
            throw failed.getCause() instanceof RuntimeException unknown
                    ? unknown
                    : new IllegalStateException(failed.getCause());
        } catch (TimeoutException late) {
            asked.task.cancel(false);
            asked.store.thread.remove(asked.task); // if it waits behind another that is late
            return noAnswer.apply(asked.store.client.store()
                    + " gave no answer within a second: it hangs, or has too many locks to list them in that time; ask"
                    + " for fewer, by ?pattern=");
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return noAnswer.apply("the thread was interrupted");
        }
    }
}
