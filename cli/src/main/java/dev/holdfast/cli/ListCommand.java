package dev.holdfast.cli;

import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code holdfast list}: who holds what, and who waits. */
@Command(
        name = "list",
        description = "Lists the locks that are held or waited for.",
        customSynopsis = "holdfast list [-hv] [--json] [--store=URL] [PATTERN]",
        sortOptions = false,
        usageHelpAutoWidth = true,
        footer = {
            "",
            "Quote the pattern, so that the shell leaves it alone.",
            "",
            "Examples:",
            "  holdfast list",
            "  holdfast list 'order:*'",
            "  holdfast list --json | jq '.[] | select(.waiting > 0)'"
        })
final class ListCommand implements Callable<Integer> {
    private static final String EVERYTHING = "*";

    @ParentCommand
    private @Nullable HoldfastCommand parent;

    @Spec
    private @Nullable CommandSpec spec;

    @Parameters(
            arity = "0..*",
            paramLabel = "PATTERN",
            hideParamSyntax = true,
            description = "Which names: * stands for any characters, ? for one. Default: all.")
    private List<String> patterns = List.of();

    @Option(names = "--json", description = "Print a JSON array.")
    private boolean json;

    @Override
    public Integer call() {
        StoreUrl store = Objects.requireNonNull(parent).store();
        String pattern = pattern();
        boolean absent = store.isAbsentFile();
        List<LockStatus> locks = absent ? List.of() : locks(store, pattern); // to look is no reason to make it
        if (json) {
            System.out.println(Json.of(locks.stream().map(LockView::json).toList()));
        } else if (!locks.isEmpty()) {
            System.out.print(LockView.table(locks));
        }
        if (locks.isEmpty()) {
            String which = pattern.equals(EVERYTHING) ? "no lock" : "no lock that matches '" + pattern + "'";
            String why = absent ? ": that file is not there, so nobody has taken a lock in it yet" : "";
            System.err.println("holdfast: " + Redaction.oneLine(which + " is held on " + store.shown() + why));
        }
        return ExitCode.OK;
    }

    private String pattern() {
        if (patterns.size() > 1) {
            throw new ParameterException(
                    Objects.requireNonNull(spec).commandLine(),
                    "list takes one PATTERN, not " + patterns.size()
                            + "; quote it, or the shell puts the names of files in its place: holdfast list 'order:*'");
        }
        return patterns.isEmpty() ? EVERYTHING : patterns.get(0);
    }

    private static List<LockStatus> locks(StoreUrl store, String pattern) {
        try (LockClient client = store.open("")) {
            return client.list(pattern);
        }
    }
}
