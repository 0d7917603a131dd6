package dev.holdfast.cli;

import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** {@code holdfast list}: who holds what, and who waits. */
@Command(
        name = "list",
        description = "Lists the locks that are held or waited for.",
        sortOptions = false,
        usageHelpAutoWidth = true,
        footer = {
            "",
            "Examples:",
            "  holdfast list",
            "  holdfast list 'order:*'",
            "  holdfast list --json | jq '.[] | select(.waiting > 0)'"
        })
final class ListCommand implements Callable<Integer> {
    @ParentCommand
    private @Nullable HoldfastCommand parent;

    @Parameters(
            arity = "0..1",
            paramLabel = "PATTERN",
            hideParamSyntax = true,
            defaultValue = "*",
            description = "Which names: * stands for any characters, ? for one. Default: all.")
    private String pattern = "*";

    @Option(names = "--json", description = "Print a JSON array.")
    private boolean json;

    @Override
    public Integer call() {
        StoreUrl store = Objects.requireNonNull(parent).store();
        List<LockStatus> locks = locks(store);
        if (json) {
            System.out.println(Json.of(locks.stream().map(LockView::json).toList()));
        } else if (!locks.isEmpty()) {
            System.out.print(LockView.table(locks));
        }
        if (locks.isEmpty()) {
            String which = pattern.equals("*") ? "no lock" : "no lock that matches '" + pattern + "'";
            System.err.println("holdfast: " + Redaction.oneLine(which + " is held on " + store.shown()));
        }
        return ExitCode.OK;
    }

    private List<LockStatus> locks(StoreUrl store) {
        if (store.isAbsentFile()) {
            return List.of(); // to look is no reason to make it
        }
        try (LockClient client = store.open("")) {
            return client.list(pattern);
        }
    }
}
