package dev.holdfast.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A worker of the demo as its parent sees it; {@link DemoWorkerCommand} is the other side. It ends with its input, and
 * so with this process, however that ends.
 */
final class WorkerProcess {
    /** What the queue says when the worker has ended. */
    private static final String END = "end";

    private static final long LONGEST_START_SECONDS = 60;

    private final Process process;
    private final PrintStream orders;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final List<Sale> sales = new ArrayList<>();
    private volatile long sold;

    private WorkerProcess(Process process) {
        this.process = process;
        this.orders = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
        Thread ear = new Thread(this::hear, "demo-worker-" + process.pid());
        ear.setDaemon(true);
        ear.start();
    }

    /**
     * Starts a worker of the same build on the same Java.
     *
     * @param store by the environment: its URL may hold a password, and arguments are for all to see
     * @param temporary where it may leave files: in the end it is killed, and cannot tidy up after itself
     */
    static WorkerProcess start(StoreUrl store, Path temporary, List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ownOptions());
        command.addAll(List.of("-Xmx128m", "-Djava.io.tmpdir=" + temporary));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName(), "demo-worker"));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().put(StoreUrl.VARIABLE, store.value());
        try {
            return new WorkerProcess(builder.start());
        } catch (IOException e) {
            throw new CliException(ExitCode.INTERNAL, "cannot start a worker of the demo: " + e.getMessage(), e);
        }
    }

    /** The options of this JVM: what makes it start quickly serves the workers too. */
    private static List<String> ownOptions() {
        return ProcessHandle.current().info().arguments().stream()
                .flatMap(Arrays::stream)
                .filter(argument -> argument.startsWith("-X"))
                .toList();
    }

    /** How many it has sold in this run, as far as it has told. */
    long sold() {
        return sold;
    }

    void prepare(SaleLock lock) {
        sales.clear();
        sold = 0;
        orders.println(DemoWorkerCommand.RUN + lock.label());
    }

    void go() {
        orders.println(DemoWorkerCommand.GO);
    }

    /** Waits until it is ready for the next step. */
    void awaitReady() throws InterruptedException {
        if (!isReady(TimeUnit.SECONDS.toNanos(LONGEST_START_SECONDS))) {
            throw new CliException(ExitCode.INTERNAL, "a worker of the demo does not answer; run it again");
        }
    }

    /** Whether it is ready, and has told its sales, within the time. */
    boolean isReady(long nanos) throws InterruptedException {
        String answer = answers.poll(nanos, TimeUnit.NANOSECONDS);
        if (END.equals(answer)) {
            throw new CliException(
                    ExitCode.INTERNAL,
                    "a worker of the demo ended early, with exit code " + process.waitFor() + "; run it again with -v");
        }
        return answer != null;
    }

    /** What it sold in the run that ended. */
    List<Sale> sales() {
        return sales;
    }

    void kill() {
        process.destroyForcibly();
        process.onExit().join();
    }

    private void hear() {
        try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.startsWith(DemoWorkerCommand.SALE)) {
                    sales.add(Sale.decode(line.substring(DemoWorkerCommand.SALE.length())));
                } else if (line.startsWith(DemoWorkerCommand.SOLD)) {
                    sold = Long.parseLong(line.substring(DemoWorkerCommand.SOLD.length()));
                } else {
                    answers.add(line); // and with it, everything read before is seen by who takes it
                }
            }
        } catch (IOException e) {
            // Its pipe broke because it was killed: the same end.
        }
        answers.add(END);
    }
}
