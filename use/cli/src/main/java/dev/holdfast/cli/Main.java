package dev.holdfast.cli;

import java.util.List;
import java.util.Optional;
import picocli.CommandLine;

/** The entry point: wires the commands and turns every outcome into an exit code and at most one line. */
public final class Main {
    private static final char UNREADABLE = '\uFFFD';

    private Main() {}

    /** Runs a command and exits with its code. */
    public static void main(String[] args) {
        Optional<Stderr> stderr = Stderr.install();
        int code = run(args);
        stderr.ifPresent(Stderr::close); // System.err stays open for what is said during the exit
        System.exit(code);
    }

    /** Runs a command; returns its exit code. */
    static int run(String... args) {
        DriverLogs.install();
        HoldfastCommand top = new HoldfastCommand();
        FailureReport failures = new FailureReport(top, System.err);
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> failures.report(failure)); // a driver's own
        // A JVM in a C locale cannot decode other bytes than ASCII: two names would become one, and the command's
        // arguments would not arrive as they were given.
        if (List.of(args).toString().indexOf(UNREADABLE) >= 0) {
            return failures.report(new CliException(
                    ExitCode.USAGE,
                    "an argument has characters that this locale cannot express; set LC_ALL=C.UTF-8, or another"
                            + " UTF-8 locale"));
        }
        Arguments arguments = Arguments.of(args);
        Redaction.learn(arguments.ours(), System.getenv());
        try {
            int code = commandLine(top, arguments.command(), failures)
                    .execute(arguments.ours().toArray(String[]::new));
            return System.out.checkError() && code == ExitCode.OK ? failures.report(unwritten()) : code;
        } catch (Error e) { // exceptions are reported in there
            return failures.report(e);
        }
    }

    private static CliException unwritten() {
        return new CliException(
                ExitCode.OUTPUT_FAILED, "could not write all to stdout: its reader is gone, or its disk is full");
    }

    private static CommandLine commandLine(HoldfastCommand top, List<String> command, FailureReport failures) {
        return commandLine(top, command)
                .setExpandAtFiles(false)
                .setParameterExceptionHandler((e, unused) -> failures.report(e))
                .setExecutionExceptionHandler((e, unused, parsed) -> failures.report(e));
    }

    /** The commands and their options. */
    static CommandLine commandLine(HoldfastCommand top, List<String> command) {
        return new CommandLine(top)
                .addSubcommand(new RunCommand(command))
                .addSubcommand(new OnceCommand(command))
                .addSubcommand(new FenceCommand(command))
                .addSubcommand(new ListCommand())
                .addSubcommand(new TopCommand())
                .addSubcommand(new WhyCommand())
                .addSubcommand(new BreakCommand())
                .addSubcommand(new ReleaseCommand())
                .addSubcommand(new SchemaCommand())
                .addSubcommand(new DemoCommand())
                .addSubcommand(new CompletionCommand())
                .addSubcommand(new DemoWorkerCommand())
                .addSubcommand(new ManPageCommand());
    }
}
