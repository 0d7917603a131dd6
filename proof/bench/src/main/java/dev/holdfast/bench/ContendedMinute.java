package dev.holdfast.bench;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A minute of contention to be recorded and looked at: two clients of four threads each want one lock, for 2 to 8 ms at
 * a time, and every fourth call waits for 25 ms at most. Two things go wrong: after a quarter of the time somebody holds
 * the lock for three seconds, and after half of it somebody breaks the lock of a holder at work.
 *
 * <pre>{@code
 * java -cp … dev.holdfast.bench.ContendedMinute [URL sqlite:locks.db] [seconds 60]
 * }</pre>
 */
public final class ContendedMinute {
    private static final HoldOptions OPTIONS = HoldOptions.defaults().lease(Duration.ofSeconds(1));
    private static final Duration SHORT_WAIT = Duration.ofMillis(25);
    private static final int CLIENTS = 2;
    private static final int THREADS = 4;
    private static final int SHORT_WAIT_EVERY = 4;

    private final long end;

    private ContendedMinute(long end) {
        this.end = end;
    }

    /** Runs it and prints the figures of both clients. */
    public static void main(String[] args) throws InterruptedException {
        String url = args.length > 0 ? args[0] : "sqlite:locks.db";
        long seconds = args.length > 1 ? Long.parseLong(args[1]) : 60;
        ContendedMinute minute = new ContendedMinute(System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds));
        try (LockClient one = LockClient.connect(url);
                LockClient two = LockClient.connect(url)) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < CLIENTS * THREADS; i++) {
                DistributedLock lock = (i % CLIENTS == 0 ? one : two).lock("stock", OPTIONS);
                SplittableRandom random = new SplittableRandom(i);
                threads.add(new Thread(() -> minute.work(lock, random), "worker-" + i));
            }
            threads.forEach(Thread::start);
            TimeUnit.SECONDS.sleep(seconds / 4);
            minute.holdLong(one.lock("stock", OPTIONS));
            TimeUnit.SECONDS.sleep(seconds / 4);
            two.lock("stock").status().grant().ifPresent(held -> two.breakGrant("stock", held.token(), true));
            for (Thread thread : threads) {
                thread.join();
            }
            System.out.println(one.statistics());
            System.out.println(two.statistics());
        }
    }

    private void work(DistributedLock lock, SplittableRandom random) {
        try {
            for (int turn = 1; System.nanoTime() - end < 0; turn++) {
                try {
                    if (turn % SHORT_WAIT_EVERY == 0) {
                        lock.tryAcquire(SHORT_WAIT).ifPresent(hold -> use(hold, random));
                    } else {
                        use(lock.acquire(), random);
                    }
                } catch (HoldLostException broken) {
                    System.out.println(broken.getMessage());
                }
                LockSupport.parkNanos(millis(random.nextInt(5, 40)));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void use(Hold hold, SplittableRandom random) {
        try (hold) {
            LockSupport.parkNanos(millis(random.nextInt(2, 9)));
        }
    }

    private void holdLong(DistributedLock lock) throws InterruptedException {
        try (Hold hold = lock.acquire()) {
            TimeUnit.SECONDS.sleep(3);
        }
    }

    private static long millis(int millis) {
        return TimeUnit.MILLISECONDS.toNanos(millis);
    }
}
