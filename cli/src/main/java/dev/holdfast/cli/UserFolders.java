package dev.holdfast.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;

/** The folders of this user, as the XDG base directory specification has them. */
record UserFolders(Map<String, String> environment) {

    /** Where state lives that should outlast the process. */
    Path state() {
        return folder("XDG_STATE_HOME", Path.of(".local", "state"));
    }

    /** Where files live that can be made again. */
    Path cache() {
        return folder("XDG_CACHE_HOME", Path.of(".cache"));
    }

    /** Makes a folder, and those above it, for this user alone. */
    static void make(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            Files.createDirectories(
                    folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
    }

    /**
     * Its place, as the environment has it.
     *
     * @throws CliException if this user has no home: an account that a container made up, or one without a folder
     */
    private Path folder(String variable, Path otherwise) {
        Path named = Path.of(environment.getOrDefault(variable, ""));
        if (named.isAbsolute()) { // a relative one is to be ignored, says the specification
            return named;
        }
        String home = environment.getOrDefault("HOME", "");
        Path folder = Path.of(home.isEmpty() ? System.getProperty("user.home", "") : home);
        if (!folder.isAbsolute()) { // Java says "?" of a user whom the system does not know
            throw new CliException(
                    ExitCode.USAGE,
                    "this user has no home folder to keep locks in; set HOME, or name a store with --store or "
                            + StoreUrl.VARIABLE);
        }
        return folder.resolve(otherwise);
    }
}
