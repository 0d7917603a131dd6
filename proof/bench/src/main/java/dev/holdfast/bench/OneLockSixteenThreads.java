package dev.holdfast.bench;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One lock, sixteen threads of one process: pairs of acquire and close per second, beside a fair {@link ReentrantLock},
 * the ceiling of what a queue of parked threads can do on the machine.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Threads(16)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(2)
public class OneLockSixteenThreads {

    /** Which lock is measured. */
    @Param({"reentrant-fair", "mem", "mem-strict", "sqlite", "sqlite-strict"})
    public String lock = "";

    private final ReentrantLock fair = new ReentrantLock(true);
    private @Nullable Path folder;
    private @Nullable LockClient client;
    private @Nullable DistributedLock distributed;
    private long counter;

    @Setup
    public void open() throws IOException {
        if (lock.equals("reentrant-fair")) {
            return;
        }
        folder = TemporaryFolder.make();
        String url = lock.startsWith("mem") ? "mem:" : "sqlite:" + folder.resolve("locks.db");
        client = LockClient.connect(url);
        distributed = client.lock("bench", HoldOptions.defaults().strictFifo(lock.endsWith("strict")));
    }

    @TearDown
    public void close() throws IOException {
        if (client != null) {
            client.close();
        }
        if (folder != null) {
            TemporaryFolder.delete(folder);
        }
    }

    /** One acquire, one unprotected step, one close. */
    @Benchmark
    public long pair() throws InterruptedException {
        DistributedLock measured = distributed;
        if (measured != null) {
            try (Hold hold = measured.acquire()) {
                return ++counter + hold.token();
            }
        }
        fair.lock();
        try {
            return ++counter;
        } finally {
            fair.unlock();
        }
    }
}
