package dev.holdfast.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Writes the completion script from the commands as they are: a table of what each command takes, put before the
 * function in {@code completion.bash}, which reads it. zsh runs the same function by its {@code bashcompinit}.
 */
final class CompletionScript {
    static final String BASH = "bash";
    static final String ZSH = "zsh";
    static final String FISH = "fish";

    private static final String ZSH_PRELUDE = """
            #compdef holdfast
            (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
            (( $+functions[complete] )) || { autoload -Uz bashcompinit && bashcompinit; }

            """;

    /** As a file on zsh's fpath the script is itself the function that is called for the first completion. */
    private static final String ZSH_EPILOGUE = """

            [[ ${funcstack[1]:-} != _holdfast ]] || _bash_complete -F _holdfast
            """;

    private CompletionScript() {}

    static String of(String shell, CommandSpec top) {
        if (shell.equals(FISH)) {
            return FishScript.of(top);
        }
        String script = table(top) + template();
        return shell.equals(ZSH) ? ZSH_PRELUDE + script + ZSH_EPILOGUE : script;
    }

    private static String table(CommandSpec top) {
        StringBuilder table = new StringBuilder("""
                # Completion of holdfast; made by 'holdfast completion'.

                # What a command takes: options, those of them that want a value, and words.
                _holdfast_takes() {
                """);
        table.append("  schemes='" + schemes() + "'\n  case $1 in\n");
        table.append(row("''", top, subcommands(top).map(CommandSpec::name)));
        subcommands(top).forEach(command -> table.append(row(command.name(), command, candidates(command))));
        return table.append("    *) options= valued= words= ;;\n  esac\n}\n\n").toString();
    }

    private static String row(String name, CommandSpec command, Stream<String> words) {
        return "    " + name + ") options='" + options(command, false) + "' valued='" + options(command, true)
                + "' words='" + words.collect(Collectors.joining(" ")) + "' ;;\n";
    }

    private static String schemes() {
        return Schemes.known().stream().collect(Collectors.joining(": ", "", ":"));
    }

    /** The commands that people see. */
    static Stream<CommandSpec> subcommands(CommandSpec top) {
        return top.subcommands().values().stream()
                .map(CommandLine::getCommandSpec)
                .filter(command -> !command.usageMessage().hidden());
    }

    private static String options(CommandSpec command, boolean valued) {
        return command.options().stream()
                .filter(option -> !option.hidden())
                .filter(option -> !valued || option.arity().max() > 0)
                .map(OptionSpec::names)
                .flatMap(Stream::of)
                .collect(Collectors.joining(" "));
    }

    /** The words that a command knows for its arguments. */
    static Stream<String> candidates(CommandSpec command) {
        return command.positionalParameters().stream()
                .map(ArgSpec::completionCandidates)
                .filter(Objects::nonNull)
                .flatMap(words -> StreamSupport.stream(words.spliterator(), false));
    }

    private static String template() {
        try (InputStream in = Objects.requireNonNull(CompletionScript.class.getResourceAsStream("completion.bash"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
