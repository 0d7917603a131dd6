package dev.holdfast.challenge;

import dev.holdfast.bench.TemporaryFolder;
import dev.holdfast.challenge.lock.Arbiter;
import dev.holdfast.challenge.store.StoreKind;
import dev.holdfast.challenge.store.Target;
import dev.holdfast.testbed.ServerClock;
import dev.holdfast.testbed.ServerMissingException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** A store with its workers, started once for many heats. */
final class Start implements AutoCloseable {
    private final Optional<ServerClock> clock;
    final Target target;
    final Pulse pulse;
    final Arbiter arbiter;
    final Crew crew;
    final Path folder;
    private int heats;

    /**
     * Starts them.
     *
     * @param hasClocks whether the clocks of server and workers can be set, where this machine can make such clocks
     * @throws ServerMissingException when this machine has no such store
     */
    Start(StoreKind store, Path parent, boolean hasClocks) throws IOException {
        folder = Files.createTempDirectory(Files.createDirectories(parent), "start");
        clock = hasClocks ? clock() : Optional.empty();
        target = store.start(clock, folder);
        pulse = Pulse.of(target.url());
        arbiter = new Arbiter();
        crew = new Crew(target, store.isProxied(), folder.resolve("stage"), clock.isPresent());
    }

    private static Optional<ServerClock> clock() {
        try {
            return Optional.of(ServerClock.create());
        } catch (ServerMissingException noCompiler) {
            return Optional.empty(); // the faults that need it are not tested, and say so
        }
    }

    /** A number for a heat: its locks get names of their own. */
    int nextHeat() {
        return ++heats;
    }

    @Override
    public void close() {
        crew.close();
        pulse.close();
        arbiter.close();
        target.close();
        clock.ifPresent(ServerClock::close);
        try {
            TemporaryFolder.delete(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
