package dev.holdfast.cli;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;

/** The command line's part of the reference card: what only its own package sees. */
public final class CommandReference {
    private CommandReference() {}

    /** A row of the card: what is written, and what it means. */
    public record Row(String written, String meaning) {}

    /** A command with its own options, and the ways to write it. */
    public record Command(String name, List<String> synopses, String meaning, List<Row> options) {}

    /** The options of all commands first, then each command that people see. */
    public static List<Command> commands() {
        CommandSpec top = Main.commandLine(new HoldfastCommand(), List.of()).getCommandSpec();
        List<Command> commands = new ArrayList<>();
        commands.add(command(top, List.of("holdfast COMMAND")));
        CompletionScript.subcommands(top)
                .forEach(command ->
                        commands.add(command(command, ManPage.synopses(command).toList())));
        return commands;
    }

    /** Each exit code. */
    public static List<Row> exitCodes() {
        return ExitCode.MEANINGS.stream()
                .map(meaning -> new Row(meaning.code(), meaning.text()))
                .toList();
    }

    private static Command command(CommandSpec command, List<String> synopses) {
        return new Command(
                command.qualifiedName(),
                synopses,
                joined(command.usageMessage().description()),
                ManPage.ownOptions(command)
                        .map(option -> new Row(ManPage.written(option), joined(option.description())))
                        .toList());
    }

    private static String joined(String... lines) {
        return ManPage.plain(String.join(" ", lines));
    }
}
