package dev.holdfast.cli;

import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code holdfast completion}: the script by which a shell completes what is typed. */
@Command(
        name = "completion",
        description = "Prints the script by which a shell completes holdfast's words.",
        sortOptions = false,
        usageHelpAutoWidth = true,
        footer = {
            "",
            "Examples:",
            "  holdfast completion bash > ~/.local/share/bash-completion/completions/holdfast",
            "  eval \"$(holdfast completion bash)\"                   (for this shell)",
            "  holdfast completion zsh > ~/.holdfast.zsh            (and source it in .zshrc)",
            "  holdfast completion fish > ~/.config/fish/completions/holdfast.fish"
        })
final class CompletionCommand implements Callable<Integer> {
    private static final List<String> SHELLS =
            List.of(CompletionScript.BASH, CompletionScript.ZSH, CompletionScript.FISH);

    /** The shells there are scripts for, for picocli. */
    static final class Shells implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return SHELLS.iterator();
        }
    }

    @Spec
    private @Nullable CommandSpec spec;

    @Parameters(
            arity = "1",
            paramLabel = "SHELL",
            hideParamSyntax = true,
            completionCandidates = Shells.class,
            description = "One of: ${COMPLETION-CANDIDATES}.")
    private String shell = "";

    @Override
    public Integer call() {
        CommandSpec own = Objects.requireNonNull(spec);
        if (!SHELLS.contains(shell)) {
            throw new ParameterException(
                    own.commandLine(),
                    "no completion is known for '" + shell + "'; known: " + String.join(", ", SHELLS));
        }
        System.out.print(CompletionScript.of(shell, own.root()));
        return ExitCode.OK;
    }
}
