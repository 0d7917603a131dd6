package dev.holdfast.bench.run;

import dev.holdfast.testbed.ChildProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What a person waits for at the command line. */
public final class CommandLineFigures {
    /** The seconds that {@code holdfast run x -- true} takes, warm. */
    public static final String RUN_TRUE = "run-true";

    /** The seconds from {@code git clone} to the table of the demo, with an empty Maven repository. */
    public static final String CLONE_TO_DEMO = "clone-to-demo";

    private static final int RUNS = 11;
    private static final int WARM_UP = 2;
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final double NANOS_PER_SECOND = 1e9;

    private final Path home;
    private final Results results;
    private final Progress progress;

    /** Figures of the checkout in that folder. */
    public CommandLineFigures(Path home, Results results, Progress progress) {
        this.home = home;
        this.results = results;
        this.progress = progress;
    }

    /** Times {@code ./holdfast run} in a folder for scratch. */
    public void runTrue(Path scratch) {
        progress.say("  Command line: holdfast run x -- true, " + RUNS + " times");
        List<Double> seconds = new ArrayList<>();
        for (int i = 0; i < WARM_UP + RUNS; i++) {
            double took = time(
                    home,
                    List.of(
                            home.resolve("holdfast").toString(),
                            "run",
                            "--store",
                            "sqlite:" + scratch.resolve("run.db"),
                            "x",
                            "--",
                            "true"));
            if (i >= WARM_UP) {
                seconds.add(took);
            }
        }
        results.figure(RUN_TRUE, Statistics.median(seconds));
    }

    /** Clones the checkout as it was last committed, and runs the demo in it. */
    public void cloneToDemo(Path scratch) {
        progress.say("  Command line: git clone, then holdfast demo, with an empty Maven repository");
        Path clone = scratch.resolve("clone");
        double cloning = time(scratch, List.of("git", "clone", "--quiet", home.toString(), clone.toString()));
        double demo = time(
                clone,
                List.of(
                        "env",
                        "MAVEN_OPTS=-Dmaven.repo.local=" + scratch.resolve("repository"),
                        clone.resolve("holdfast").toString(),
                        "demo"));
        results.figure(CLONE_TO_DEMO, cloning + demo);
    }

    private static double time(Path folder, List<String> command) {
        long began = System.nanoTime();
        try (ChildProcess process =
                ChildProcess.command(command).directory(folder).start()) {
            process.closeInput();
            if (process.waitFor(PATIENCE) != 0) {
                throw new AssertionError(process.story());
            }
        }
        return (System.nanoTime() - began) / NANOS_PER_SECOND;
    }
}
