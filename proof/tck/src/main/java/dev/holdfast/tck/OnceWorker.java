package dev.holdfast.tck;

import dev.holdfast.LockClient;
import dev.holdfast.Once;
import dev.holdfast.OnceOptions;
import dev.holdfast.OnceResult;
import dev.holdfast.OnceTurn;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Mode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * A process that runs work once in each period, and at times kills itself in the middle of it: as by {@code kill -9}.
 *
 * <p>Arguments: URL of the store, name of the work, period and lease in milliseconds, one in how many runs is killed, file
 * for its log, file in which all note the periods that are done. It ends when its standard input does.
 */
public final class OnceWorker {
    private static final Duration ASK_EVERY = Duration.ofMillis(5);
    private static final Duration LOOK_EVERY = Duration.ofMillis(1);
    private static final int LONGEST_WORK = 20;

    private final Once once;
    private final HoldLog log;
    private final FileChannel done;
    private final int killedOneIn;
    private long runs;
    private long leaving;

    private OnceWorker(Once once, HoldLog log, FileChannel done, int killedOneIn) {
        this.once = once;
        this.log = log;
        this.done = done;
        this.killedOneIn = killedOneIn;
    }

    /**
     * Runs until its standard input ends.
     *
     * @throws Exception if the store fails: the trace is what the kit shows
     */
    public static void main(String[] arguments) throws Exception {
        OnceOptions options = OnceOptions.every(Duration.ofMillis(Long.parseLong(arguments[2])))
                .lease(Duration.ofMillis(Long.parseLong(arguments[3])));
        try (LockClient client =
                        LockClient.builder(arguments[0]).label("worker").build();
                HoldLog log = new HoldLog(Path.of(arguments[5]));
                FileChannel done =
                        FileChannel.open(Path.of(arguments[6]), StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            Once once = client.once(arguments[1], options);
            new OnceWorker(once, log, done, Integer.parseInt(arguments[4])).untilInputEnds();
        }
    }

    private void untilInputEnds() throws IOException {
        AtomicBoolean ended = new AtomicBoolean();
        Thread input = new Thread(() -> awaitEnd(ended), "input");
        input.setDaemon(true);
        input.start();
        while (!ended.get()) {
            ask();
            LockSupport.parkNanos(ASK_EVERY.toNanos());
        }
    }

    private static void awaitEnd(AtomicBoolean ended) {
        try {
            while (System.in.read() >= 0) {
                // nothing is said to it
            }
        } catch (IOException gone) {
            // the same
        }
        ended.set(true);
    }

    private void ask() throws IOException {
        long asked = System.nanoTime();
        long before = runs;
        OnceResult result;
        try {
            result = once.run(turn -> work(turn, asked));
        } catch (StoreUnavailableException busy) {
            return; // it asks again
        }
        if (runs > before && result instanceof OnceResult.Ran ran && ran.loss().isEmpty()) {
            log.closed(runs, leaving, System.nanoTime());
        } else if (runs > before) {
            log.lost(runs, leaving, System.nanoTime());
        }
        if (result instanceof OnceResult.Ran ran) {
            note(ran.run().period().orElseThrow().start().toEpochMilli() + " "
                    + ran.run().token());
        } else if (result instanceof OnceResult.Failed failed) {
            note("refused " + failed.cause());
        }
    }

    private void work(OnceTurn turn, long asked) throws IOException {
        long began = System.nanoTime();
        log.held(++runs, Mode.EXCLUSIVE, turn.token(), asked, began);
        boolean dies = ThreadLocalRandom.current().nextInt(killedOneIn) == 0;
        long end = began
                + Duration.ofMillis(ThreadLocalRandom.current().nextLong(LONGEST_WORK))
                        .toNanos();
        while (System.nanoTime() - end < 0) {
            long looked = System.nanoTime();
            if (turn.isValid()) {
                log.valid(runs, looked);
            }
            LockSupport.parkNanos(LOOK_EVERY.toNanos());
        }
        if (dies) {
            kill();
        }
        leaving = System.nanoTime(); // before the release: right after it another may begin
    }

    private static void kill() throws IOException {
        new ProcessBuilder("/bin/sh", "-c", "kill -9 " + ProcessHandle.current().pid()).start();
        while (true) {
            LockSupport.park();
        }
    }

    private void note(String line) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
            done.write(bytes);
        }
    }
}
