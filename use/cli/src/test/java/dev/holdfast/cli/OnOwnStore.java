package dev.holdfast.cli;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Each test has the command line on a store of its own, in a folder of its own. */
abstract class OnOwnStore {
    @TempDir
    Path folder;

    Cli cli;

    @BeforeEach
    void storeOfItsOwn() {
        cli = new Cli(folder);
    }
}
