package dev.holdfast.cli;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The manual page, in the language of troff, from the commands as they are: their synopses, options and examples. */
final class ManPage {
    private static final String ENVIRONMENT = """
            .SH ENVIRONMENT
            .TP
            HOLDFAST_STORE
            The store, where \\-\\-store does not name it.
            .TP
            HOLDFAST_PASSWORD
            The store's password, where its URL has none. The command does not see it.
            .TP
            HOLDFAST_NAME, HOLDFAST_TOKEN, HOLDFAST_HOLD_ID
            Set for the command: what it holds.
            .TP
            JAVA_HOME
            The JDK or Java runtime to use, 17 or later; otherwise the java on PATH.
            .SH FILES
            .TP
            $XDG_STATE_HOME/holdfast/locks.db
            The store where none is named; without the variable below ~/.local/state.
            """;

    private ManPage() {}

    static String of(CommandSpec top) {
        List<CommandSpec> commands = CompletionScript.subcommands(top).toList();
        return ".TH HOLDFAST 1\n.SH NAME\nholdfast \\- locks that processes on one or many machines share\n"
                + ".SH SYNOPSIS\n"
                + commands.stream().map(ManPage::synopsis).collect(Collectors.joining(".br\n"))
                + ".SH OPTIONS OF ALL COMMANDS\n" + options(top)
                + commands.stream().map(ManPage::command).collect(Collectors.joining())
                + ".SH EXIT STATUS\n"
                + ExitCode.MEANINGS.stream()
                        .map(meaning -> ".TP\n" + text(meaning.code()) + text(meaning.text()))
                        .collect(Collectors.joining())
                + ENVIRONMENT;
    }

    private static String synopsis(CommandSpec command) {
        return synopses(command).map(ManPage::text).collect(Collectors.joining(".br\n"));
    }

    /** The ways to write a command. */
    static Stream<String> synopses(CommandSpec command) {
        String[] custom = command.usageMessage().customSynopsis();
        return custom.length > 0
                ? Stream.of(custom)
                : Stream.of(command.commandLine()
                        .getHelp()
                        .synopsis(0)
                        .replaceAll("\\s+", " ")
                        .strip());
    }

    private static String command(CommandSpec command) {
        return ".SH \"" + escape(command.qualifiedName().toUpperCase(Locale.ROOT)) + "\"\n"
                + Stream.of(command.usageMessage().description())
                        .map(ManPage::text)
                        .collect(Collectors.joining())
                + options(command)
                + ".PP\n.nf\n"
                + Stream.of(command.usageMessage().footer()).map(ManPage::text).collect(Collectors.joining())
                + ".fi\n";
    }

    private static String options(CommandSpec command) {
        return ownOptions(command)
                .map(option -> ".TP\n" + text(written(option)) + text(String.join(" ", option.description())))
                .collect(Collectors.joining());
    }

    /** The options that a command does not share with all. */
    static Stream<OptionSpec> ownOptions(CommandSpec command) {
        return command.options().stream().filter(option -> !option.hidden() && !option.inherited());
    }

    /** An option with its names and its value. */
    static String written(OptionSpec option) {
        return String.join(", ", option.names()) + (option.arity().max() > 0 ? " " + option.paramLabel() : "");
    }

    /** A text without the marks for colours and variables. */
    static String plain(String text) {
        return Ansi.OFF.string(text).replace("%%", "%").replace("%n", " ");
    }

    /** A line of text, none of which is a request to troff. */
    private static String text(String line) {
        String escaped = escape(plain(line));
        return (escaped.startsWith(".") || escaped.startsWith("'") ? "\\&" : "") + escaped + "\n";
    }

    private static String escape(String text) {
        return text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...");
    }
}
