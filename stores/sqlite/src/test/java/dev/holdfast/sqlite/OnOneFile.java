package dev.holdfast.sqlite;

import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Each test has stores on a file of its own. */
abstract class OnOneFile {
    static final String NAME = "order:42";

    @TempDir
    Path folder;

    @AutoClose
    Rig rig;

    @BeforeEach
    void openTheRig() {
        rig = new Rig(folder);
    }
}
