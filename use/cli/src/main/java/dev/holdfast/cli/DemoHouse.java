package dev.holdfast.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

/** What the demo makes and must not leave behind, by whichever way it ends: workers, and a folder for stock and store. */
final class DemoHouse implements AutoCloseable {
    private final Path folder;
    private final List<WorkerProcess> workers = new CopyOnWriteArrayList<>();
    private final Thread atExit = new Thread(this::clear, "demo-end");
    private volatile boolean ending;

    private DemoHouse(Path folder) {
        this.folder = folder;
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    static DemoHouse open() {
        try {
            return new DemoHouse(Files.createTempDirectory("holdfast-demo-"));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make a temporary folder", e);
        }
    }

    Path folder() {
        return folder;
    }

    Path file(String name) {
        return folder.resolve(name);
    }

    void add(WorkerProcess worker) {
        workers.add(worker);
        if (ending) {
            worker.kill();
        }
    }

    List<WorkerProcess> workers() {
        return workers;
    }

    /** Whether the process is being ended from outside: what fails now is no news. */
    boolean isEnding() {
        return ending;
    }

    @Override
    public void close() {
        clear();
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            // It is running already, and finds nothing left to do.
        }
    }

    private void clear() {
        if (Thread.currentThread() == atExit) {
            ending = true;
        }
        workers.forEach(WorkerProcess::kill);
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (NoSuchFileException | UncheckedIOException e) {
            // Cleared before, or by the other of the two ways at this moment.
        } catch (IOException e) {
            System.err.println("holdfast: could not delete " + folder + "; delete it by hand: " + e);
        }
    }
}
