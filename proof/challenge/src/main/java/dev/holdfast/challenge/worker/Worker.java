package dev.holdfast.challenge.worker;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.challenge.history.Stage;
import dev.holdfast.challenge.history.TurnFile;
import dev.holdfast.challenge.lock.Clients;
import dev.holdfast.challenge.lock.LockKind;
import dev.holdfast.challenge.lock.LockKind.Place;
import dev.holdfast.challenge.lock.Locks;
import dev.holdfast.challenge.workload.Workloads;
import dev.holdfast.testbed.Await;
import dev.holdfast.testbed.Stalls;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A process that uses many locks at once, each on a thread of its own: what is done to the process
 * is done to all of them. It is there to be stopped and killed.
 *
 * <p>Its argument is the file of the {@link Stage}. It takes one command a line, with blanks between the words, and ends
 * when its standard input ends:
 *
 * <pre>
 *   clock                                                answers: clock NANOS
 *   wall                                                 answers: wall MILLIS, of its wall clock
 *   interrupt                                            interrupts those who wait for a lock
 *   lane NUMBER WORKER STORE LOCK WORKLOAD NAME own|shared URL ARBITER FILE SEED PAUSE
 *                                                        answers: opened NUMBER, or: failed NUMBER WHY
 *   end                                                  closes all clients; answers: ended THREADS, those that are left,
 *                                                        of locks and of clients, with commas between them
 * </pre>
 */
public final class Worker {
    /** What the threads that take turns are called, before the number of their lock. */
    public static final String THREAD = "lane-";

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final Stage stage;
    private final List<WorkingThread> threads = new ArrayList<>();
    private final Clients clients = new Clients();
    private final Stalls stalls = Stalls.watch();

    private Worker(Stage stage) {
        this.stage = stage;
    }

    /** Runs until its standard input ends. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Worker worker = new Worker(new Stage(Path.of(arguments[0])));
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            worker.obey(line.split(" ", -1));
        }
        System.exit(0);
    }

    private void obey(String[] words) throws InterruptedException {
        switch (words[0]) {
            case "clock" -> say("clock " + System.nanoTime());
            case "lane" -> open(words);
            case "wall" -> say("wall " + System.currentTimeMillis());
            case "interrupt" -> threads.forEach(WorkingThread::interruptWait);
            case "end" -> end();
            default -> throw new IllegalArgumentException("no such command: " + String.join(" ", words));
        }
    }

    private void open(String[] words) {
        int number = Integer.parseInt(words[1]);
        int worker = Integer.parseInt(words[2]);
        LockKind lock = Locks.of(words[4], words[3]);
        WorkingThread thread = new WorkingThread(
                number,
                worker,
                stage,
                lock,
                Workloads.of(words[5]),
                new Place(words[8], words[6], words[5], Integer.parseInt(words[9]), words[7].equals("own"), clients),
                new TurnFile(Path.of(words[10]), worker),
                stalls,
                Long.parseLong(words[11]),
                Duration.ofMillis(Long.parseLong(words[12])));
        threads.add(thread);
        thread.start();
    }

    private void end() throws InterruptedException {
        threads.forEach(WorkingThread::end);
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        for (WorkingThread thread : threads) {
            thread.join(
                    Math.max(1, Duration.ofNanos(deadline - System.nanoTime()).toMillis()));
        }
        List<String> left = new ArrayList<>(
                threads.stream().filter(Thread::isAlive).map(Thread::getName).toList());
        threads.clear();
        clients.close();
        boolean unused = Await.until(PATIENCE, () -> holdfastThreads().isEmpty()); // those left are told
        left.addAll(holdfastThreads());
        say("ended " + String.join(",", left));
    }

    /** Threads of the library's clients. */
    private static List<String> holdfastThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("holdfast"))
                .toList();
    }

    /** Prints a whole line, whatever thread says it. */
    static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
