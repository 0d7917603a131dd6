package dev.holdfast.cli;

import dev.holdfast.LockClient;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The real command line in real processes, on a store of its own. */
final class Cli {
    /** Generous: what is awaited comes in well under a second on an idle machine, and later on one that builds as well. */
    static final Duration SOON = Duration.ofMinutes(2);

    private final Path folder;
    private final String store;

    /** On a SQLite file in the folder. */
    Cli(Path folder) {
        this(folder, "sqlite:" + folder.resolve("locks.db"));
    }

    /** On any store, in a folder of its own. */
    Cli(Path folder, String store) {
        this.folder = folder;
        this.store = store;
    }

    /** How a process ended, and what it said. */
    record Ended(int code, List<String> out, List<String> err) {}

    /** The URL of the store that all processes of this test use. */
    String store() {
        return store;
    }

    Path file(String name) {
        return folder.resolve(name);
    }

    /** A client in this process, to look at the store. */
    LockClient client() {
        return LockClient.connect(store());
    }

    /** Breaks the lock whose status a client sees, at once; false if nobody holds it. */
    static boolean breakNow(LockClient client, String name) {
        return client.lock(name)
                .status()
                .grant()
                .map(held -> client.breakGrant(name, held.token(), true))
                .orElse(false);
    }

    /** A {@code holdfast} to be, without any of this process's own settings: the jar, without the script. */
    ChildJvm jvm(String... args) {
        return jvm(Main.class, Launcher.jar().toString()).args(args);
    }

    /** A program of this test, run as {@code holdfast} is. */
    ChildJvm jvm(Class<?> program) {
        // An archive fits a class path that begins with its jar.
        return jvm(program, Launcher.jar() + File.pathSeparator + System.getProperty("java.class.path"));
    }

    private ChildJvm jvm(Class<?> program, String classPath) {
        return ChildJvm.main(program)
                .classPath(classPath)
                .flags(Launcher.options().toArray(String[]::new))
                .flags("-Xmx128m")
                .directory(folder)
                .environment("HOLDFAST_STORE", store())
                .environment("HOME", folder.toString())
                .withoutEnvironment("XDG_CACHE_HOME")
                .withoutEnvironment("XDG_STATE_HOME")
                .withoutEnvironment("JAVA_TOOL_OPTIONS");
    }

    ChildProcess start(String... args) {
        return jvm(args).start();
    }

    Ended run(String... args) {
        return end(start(args));
    }

    /** The script, as a user calls it, with the environment of this test's user and this store. */
    ChildProcess.Builder script(String... args) {
        return ChildProcess.command(Launcher.script().toString())
                .args(args)
                .directory(folder)
                .environment("HOLDFAST_STORE", store)
                .withoutEnvironment("JAVA_TOOL_OPTIONS");
    }

    /** A line for a shell, which finds the script as {@code $HOLDFAST}. */
    ChildProcess.Builder shell(String... command) {
        return ChildProcess.command(command)
                .directory(folder)
                .environment("HOLDFAST", Launcher.script().toString())
                .environment("HOLDFAST_STORE", store)
                .withoutEnvironment("JAVA_TOOL_OPTIONS");
    }

    static Ended end(ChildProcess process) {
        try (process) {
            int code = process.waitFor(SOON);
            return new Ended(code, process.lines(), process.stderr().lines());
        }
    }

    /** Sends any signal to one process. */
    static void signal(String name, long pid) {
        try {
            new ProcessBuilder("/bin/sh", "-c", "kill -s " + name + " " + pid)
                    .start()
                    .onExit()
                    .join();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static boolean isAlive(long pid) {
        return ProcessHandle.of(pid).map(process -> !ProcStat.hasEnded(process)).orElse(false);
    }
}
