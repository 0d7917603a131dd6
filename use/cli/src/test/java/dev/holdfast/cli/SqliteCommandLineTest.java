package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The command line on the embedded store. */
class SqliteCommandLineTest extends CommandLineContract {
    @Override
    protected String emptyStore(Path folder) {
        return "sqlite:" + folder.resolve("locks.db");
    }

    @Override
    protected String unreachableStore(Path folder) {
        try {
            return "sqlite:" + Files.writeString(folder.resolve("file"), "in the way") + "/locks.db";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    @Tag("thorough")
    void toLookAndToBreakMakesNoFile() {
        Cli cli = new Cli(folder);
        assertThat(cli.run("list").code()).isZero();
        assertThat(cli.run("release", "--yes", "job").code()).isEqualTo(ExitCode.NOTHING_BROKEN);

        assertThat(folder).isEmptyDirectory();
    }
}
