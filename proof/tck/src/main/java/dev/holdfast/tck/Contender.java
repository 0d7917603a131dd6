package dev.holdfast.tck;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Mode.Permits;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A process that contends for one lock, as the kit tells it to: a program to be killed and stopped while it holds or
 * waits.
 *
 * <p>It takes one command a line from its standard input, and ends when that ends. A case of the kit begins with a line
 * that has, with tabs between them, the URL of the store, the name of the lock, the lease in milliseconds, a file for the
 * log, a file shared by all, and how it holds: {@code write}, {@code read}, or {@code 2/3} for two of three permits. The
 * case has a client of its own. Its commands:
 *
 * <pre>
 *   command        answers
 *   clock          clock NANOS                       System.nanoTime() here
 *   race ROUNDS    raced ROUNDS                      locks, changes the shared file, unlocks; so often
 *   acquire        asking · holding TOKEN NANOS      waits as long as it takes, then looks at isValid() all the time
 *   look           valid · invalid                   isValid()
 *   close          closed NANOS · lost NANOS         closes what acquire got
 *   end            ended                             closes the client: the case is over
 * </pre>
 */
public final class Contender {
    private static final long LOOK_EVERY_NANOS = 1_000_000;

    private final LockClient client;
    private final String name;
    private final HoldOptions options;
    private final Mode mode;
    private final HoldLog log;
    private final SharedResource shared;
    private @Nullable Watched watched;
    private long holds;

    /** A hold, and the thread that looks whether it is valid until it is told to end. */
    private static final class Watched {
        final Hold hold;
        final long number;
        private final HoldLog log;
        private final Thread looker = new Thread(this::look, "looker");
        // not an interrupt, which would close the log
        private volatile boolean ended;

        Watched(Hold hold, long number, HoldLog log) {
            this.hold = hold;
            this.number = number;
            this.log = log;
            looker.setDaemon(true);
        }

        private void look() {
            try {
                while (!ended) {
                    long looked = System.nanoTime();
                    if (hold.isValid()) {
                        log.valid(number, looked);
                    }
                    LockSupport.parkNanos(LOOK_EVERY_NANOS);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        void begin() {
            looker.start();
        }

        void end() throws InterruptedException {
            ended = true;
            looker.join();
        }
    }

    private Contender(
            LockClient client, String name, HoldOptions options, Mode mode, HoldLog log, SharedResource shared) {
        this.client = client;
        this.name = name;
        this.options = options;
        this.mode = mode;
        this.log = log;
        this.shared = shared;
    }

    /**
     * Runs until its standard input ends.
     *
     * @throws Exception if the store fails, or the lock does: the trace is what the kit shows
     */
    public static void main(String[] arguments) throws Exception {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            oneCase(line.split("\t", -1), commands);
            say("ended");
        }
    }

    private static void oneCase(String[] words, BufferedReader commands) throws Exception {
        HoldOptions options = HoldOptions.defaults().lease(Duration.ofMillis(Long.parseLong(words[2])));
        try (LockClient client = LockClient.builder(words[0]).label("contender").build();
                HoldLog log = new HoldLog(Path.of(words[3]))) {
            SharedResource shared = new SharedResource(Path.of(words[4]));
            new Contender(client, words[1], options, Modes.read(words[5]), log, shared).obey(commands);
        }
    }

    private void obey(BufferedReader commands) throws Exception {
        say("ready");
        for (String line = commands.readLine(); line != null && !line.equals("end"); line = commands.readLine()) {
            String[] words = line.split(" ", -1);
            switch (words[0]) {
                case "clock" -> say("clock " + System.nanoTime());
                case "race" -> race(Integer.parseInt(words[1]));
                case "acquire" -> acquire();
                case "look" -> say(held().hold.isValid() ? "valid" : "invalid");
                case "close" -> close();
                default -> throw new IllegalArgumentException("no such command: " + line);
            }
        }
        if (watched != null) {
            watched.end();
        }
    }

    private void race(int rounds) throws Exception {
        for (int i = 0; i < rounds; i++) {
            Hold hold = acquireAndLog();
            use(hold);
            long looked = System.nanoTime();
            if (hold.isValid()) {
                log.valid(holds, looked);
            }
            closeAndLog(hold, holds);
        }
        say("raced " + rounds);
    }

    private Hold acquireAndLog() throws Exception {
        long asked = System.nanoTime();
        Hold hold = hold();
        log.held(++holds, mode, hold.token(), asked, System.nanoTime());
        return hold;
    }

    private Hold hold() throws InterruptedException {
        if (mode instanceof Permits some) {
            return client.semaphore(name, some.of(), options).acquire(some.permits());
        }
        return mode instanceof Mode.Shared
                ? client.readWriteLock(name, options).read().acquire()
                : client.lock(name, options).acquire();
    }

    private void use(Hold hold) {
        long who = ProcessHandle.current().pid();
        if (mode instanceof Permits some) {
            shared.share(who, some.permits(), some.of());
        } else if (mode instanceof Mode.Shared) {
            shared.read(who, hold.token());
        } else {
            shared.use(who, hold.token());
        }
    }

    private void acquire() throws Exception {
        say("asking");
        Hold hold = acquireAndLog();
        long began = System.nanoTime();
        watched = new Watched(hold, holds, log);
        watched.begin();
        say("holding " + hold.token() + " " + began);
    }

    private void close() throws Exception {
        Watched closing = held();
        closing.end();
        say((closeAndLog(closing.hold, closing.number) ? "closed " : "lost ") + System.nanoTime());
    }

    private Watched held() {
        Watched now = watched;
        if (now == null) {
            throw new IllegalStateException("nothing was acquired");
        }
        return now;
    }

    /** False if the hold turned out to be lost. */
    private boolean closeAndLog(Hold hold, long number) throws IOException {
        long leaving = System.nanoTime();
        try {
            hold.close();
            log.closed(number, leaving, System.nanoTime());
            return true;
        } catch (HoldLostException lost) {
            log.lost(number, leaving, System.nanoTime());
            return false;
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
