package dev.holdfast.testbed;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Checks that a test leaves nothing behind: compares what is there with what was there when {@link Watch#begin} was
 * called. Only what was asked for is watched.
 *
 * <pre>{@code
 * Residue residue = Residue.watch().threads("holdfast-").children().openFiles().files(folder).begin();
 * runTheTest();
 * residue.assertNothingLeft(Duration.ofSeconds(5));
 * }</pre>
 *
 * <p>It sees the whole JVM: tests that run beside each other see each other's threads, children and files. Thread-safe.
 */
public final class Residue {
    private final Map<Watched, Map<String, String>> before;

    private Residue(List<Watched> watched) {
        Map<Watched, Map<String, String>> found = new LinkedHashMap<>();
        watched.forEach(kind -> found.put(kind, kind.present()));
        this.before = found;
    }

    /** Begins the list of what is watched. */
    public static Watch watch() {
        return new Watch();
    }

    /** Whether {@link Watch#openFiles} works on this machine. */
    public static boolean canWatchOpenFiles() {
        return WatchedOpenFiles.available();
    }

    /**
     * Awaits that nothing is left of what came since the beginning.
     *
     * @param patience how long what is ending may take
     * @throws AssertionError when something is still there; lists it
     */
    public void assertNothingLeft(Duration patience) {
        if (!Await.until(patience, () -> left().isEmpty())) {
            List<String> left = left();
            // It may have gone between the two looks.
            if (!left.isEmpty()) {
                throw new AssertionError("left behind after " + patience + ":\n" + String.join("\n", left));
            }
        }
    }

    /** What is left at this moment, one description each; empty when nothing is. */
    public List<String> left() {
        List<String> left = new ArrayList<>();
        before.forEach((kind, known) -> kind.present().forEach((key, description) -> {
            if (!known.containsKey(key)) {
                left.add(kind.name() + " " + description);
            }
        }));
        return left;
    }

    /** What is watched. Not thread-safe. */
    public static final class Watch {
        private final List<Watched> watched = new ArrayList<>();

        private Watch() {}

        /** Live platform threads whose names start with the prefix; all threads with the empty prefix. */
        public Watch threads(String prefix) {
            watched.add(new WatchedThreads(prefix));
            return this;
        }

        /** Child processes of this JVM and their descendants. */
        public Watch children() {
            watched.add(new WatchedChildren());
            return this;
        }

        /**
         * Open files, sockets and pipes of this JVM, but not the jars that class loading opens when it likes. On Linux
         * only: elsewhere this call throws.
         *
         * @throws UnsupportedOperationException where there is no {@code /proc/self/fd}
         * @see Residue#canWatchOpenFiles
         */
        public Watch openFiles() {
            if (!canWatchOpenFiles()) {
                throw new UnsupportedOperationException("open files can be watched only where /proc/self/fd is");
            }
            watched.add(new WatchedOpenFiles());
            return this;
        }

        /** Files and folders below the folder, which need not exist. */
        public Watch files(Path folder) {
            watched.add(new WatchedFiles(folder));
            return this;
        }

        /** Notes what is there now. */
        public Residue begin() {
            return new Residue(watched);
        }
    }
}
