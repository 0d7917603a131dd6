package dev.holdfast.cli;

import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code holdfast man-page}: the page for man(1), as the distribution has it. */
@Command(name = "man-page", hidden = true, description = "Prints the page for man(1).")
final class ManPageCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        System.out.print(ManPage.of(Objects.requireNonNull(spec).root()));
        return ExitCode.OK;
    }
}
