package dev.holdfast.cli;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The command line's part of the reference card: what only its own package sees. */
public final class CommandReference {
    private CommandReference() {}

    /** A row of the card: what is written, and what it means. */
    public record Row(String written, String meaning) {}

    /** A command, with its own options. */
    public record Command(String synopsis, String meaning, List<Row> options) {}

    /** The options of all commands first, then each command that people see. */
    public static List<Command> commands() {
        CommandSpec top = Main.commandLine(new HoldfastCommand(), List.of()).getCommandSpec();
        List<Command> commands = new ArrayList<>();
        commands.add(new Command("holdfast COMMAND", description(top), options(top)));
        top.subcommands().values().stream()
                .map(CommandLine::getCommandSpec)
                .filter(command -> !command.usageMessage().hidden())
                .forEach(command ->
                        commands.add(new Command(synopsis(command), description(command), options(command))));
        return commands;
    }

    /** Each exit code. */
    public static List<Row> exitCodes() {
        return ExitCode.MEANINGS.stream()
                .map(meaning -> new Row(meaning.code(), meaning.text()))
                .toList();
    }

    private static List<Row> options(CommandSpec command) {
        return command.options().stream()
                .filter(option -> !option.hidden() && !option.inherited())
                .map(CommandReference::row)
                .toList();
    }

    private static Row row(OptionSpec option) {
        String value = option.arity().max() > 0 ? " " + option.paramLabel() : "";
        return new Row(String.join(", ", option.names()) + value, plain(option.description()));
    }

    private static String synopsis(CommandSpec command) {
        String[] custom = command.usageMessage().customSynopsis();
        String synopsis = custom.length > 0
                ? String.join(" ", custom)
                : command.commandLine().getHelp().synopsis(0);
        return plain(synopsis);
    }

    private static String description(CommandSpec command) {
        return plain(command.usageMessage().description());
    }

    private static String plain(String... lines) {
        return Ansi.OFF
                .string(String.join(" ", lines).replace("%%", "%").replace("%n", " "))
                .replaceAll("\\s+", " ")
                .strip();
    }
}
