package dev.holdfast.cli;

import java.util.Arrays;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The completion script of fish, a line for each command, option and word, from the commands as they are. */
final class FishScript {
    private static final String PRELUDE = """
            # Completion of holdfast; made by 'holdfast completion fish'.

            # Whether a command is typed: the first word that is neither an option nor the store.
            function __holdfast_command
              set -l words (commandline -opc)
              set -l skip yes
              for word in $words
                if test $skip = yes
                  set skip no
                else if test $word = --store
                  set skip yes
                else if not string match -q -- '-*' $word
                  test (count $argv) -eq 0; or contains -- $word $argv
                  return
                end
              end
              return 1
            end

            # Whether '--' is typed: what follows is another program's.
            function __holdfast_behind_dashes
              contains -- -- (commandline -opc)
            end

            function __holdfast_other_program
              set -l words (commandline -opc) (commandline -ct)
              set -l first (math (contains -i -- -- $words) + 1)
              complete -C (string join -- ' ' (string escape -- $words[$first..-2]) $words[-1])
            end

            complete -c holdfast -f
            complete -c holdfast -n __holdfast_behind_dashes -a '(__holdfast_other_program)'
            """;

    private FishScript() {}

    static String of(CommandSpec top) {
        String own = "'not __holdfast_command'";
        StringBuilder script = new StringBuilder(PRELUDE);
        script.append(options(top, own));
        CompletionScript.subcommands(top)
                .forEach(command -> script.append(
                        word(own, command.name(), first(command.usageMessage().description()))));
        CompletionScript.subcommands(top).forEach(command -> {
            String typed = "'not __holdfast_behind_dashes; and __holdfast_command " + command.name() + "'";
            script.append(options(command, typed));
            CompletionScript.candidates(command).forEach(candidate -> script.append(word(typed, candidate, "")));
        });
        return script.toString();
    }

    private static String word(String when, String word, String description) {
        return "complete -c holdfast -n " + when + " -a " + word + described(description) + "\n";
    }

    private static String options(CommandSpec command, String when) {
        return command.options().stream()
                .filter(option -> !option.hidden())
                .map(option -> "complete -c holdfast -n " + when + names(option)
                        + (option.arity().max() > 0 ? " -x" : "") + described(first(option.description())) + "\n")
                .collect(Collectors.joining());
    }

    private static String names(OptionSpec option) {
        return Arrays.stream(option.names())
                .map(name -> name.startsWith("--") ? " -l " + name.substring(2) : " -s " + name.substring(1))
                .collect(Collectors.joining());
    }

    private static String first(String... lines) {
        return lines.length == 0 ? "" : String.format(lines[0]);
    }

    private static String described(String text) {
        return text.isEmpty() ? "" : " -d '" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }
}
