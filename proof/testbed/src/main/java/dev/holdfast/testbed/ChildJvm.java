package dev.holdfast.testbed;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Starts a Java program as a {@link ChildProcess}, with the Java installation and the class path of this JVM.
 *
 * <pre>{@code
 * try (ChildProcess worker = ChildJvm.main(Worker.class).flags("-Xmx64m").args("order 42").start()) {
 *     worker.expect("ready", Duration.ofSeconds(10));
 * }
 * }</pre>
 *
 * <p>Children start quickly rather than run fast: they get {@code -XX:TieredStopAtLevel=1}, which a later flag (as
 * {@code -XX:TieredStopAtLevel=4}) undoes, verify classes if this JVM does, and print UTF-8. Not thread-safe; the process it starts is.
 */
public final class ChildJvm {
    /** Classes are not verified: a seventh less processor time for a start. */
    private static final String UNVERIFIED = "-XX:-BytecodeVerificationRemote";

    private final String mainClass;
    private final List<String> flags = new ArrayList<>();
    private final List<String> arguments = new ArrayList<>();
    private final List<UnaryOperator<ChildProcess.Builder>> surroundings = new ArrayList<>();
    private String classPath = System.getProperty("java.class.path");

    private ChildJvm(String mainClass) {
        this.mainClass = mainClass;
    }

    /** A program by its main class, which may be nested. */
    public static ChildJvm main(Class<?> mainClass) {
        return new ChildJvm(mainClass.getName());
    }

    /** A program by the binary name of its main class. */
    public static ChildJvm main(String mainClass) {
        return new ChildJvm(mainClass);
    }

    /** Adds flags of the JVM. */
    public ChildJvm flags(String... more) {
        flags.addAll(List.of(more));
        return this;
    }

    /** Adds arguments of the program, blanks and all. */
    public ChildJvm args(String... more) {
        arguments.addAll(List.of(more));
        return this;
    }

    /** Replaces the class path, which is otherwise that of this JVM. */
    public ChildJvm classPath(String path) {
        classPath = path;
        return this;
    }

    /** Sets a variable; the others are those of this JVM. */
    public ChildJvm environment(String variable, String value) {
        surroundings.add(process -> process.environment(variable, value));
        return this;
    }

    /** Takes a variable of this JVM away from the child. */
    public ChildJvm withoutEnvironment(String variable) {
        surroundings.add(process -> process.withoutEnvironment(variable));
        return this;
    }

    /** Runs it in the folder; otherwise in that of this JVM. */
    public ChildJvm directory(Path folder) {
        surroundings.add(process -> process.directory(folder));
        return this;
    }

    /**
     * Starts the program.
     *
     * @throws java.io.UncheckedIOException when this JVM's {@code java} cannot be run
     */
    public ChildProcess start() {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-XX:TieredStopAtLevel=1");
        if (ManagementFactory.getRuntimeMXBean().getInputArguments().contains(UNVERIFIED)) {
            command.addAll(List.of("-XX:+UnlockDiagnosticVMOptions", UNVERIFIED));
        }
        // Java 17 takes the encoding of its output from the first, later versions from the others.
        command.add("-Dfile.encoding=UTF-8");
        command.add("-Dstdout.encoding=UTF-8");
        command.add("-Dstderr.encoding=UTF-8");
        command.addAll(flags);
        command.add("-cp");
        command.add(classPath);
        command.add(mainClass);
        command.addAll(arguments);
        ChildProcess.Builder process = ChildProcess.command(command);
        for (UnaryOperator<ChildProcess.Builder> surrounding : surroundings) {
            process = surrounding.apply(process);
        }
        return process.start();
    }
}
