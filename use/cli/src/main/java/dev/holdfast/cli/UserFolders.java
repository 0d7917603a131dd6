package dev.holdfast.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** The folders of this user, as the XDG base directory specification has them. */
record UserFolders(Map<String, String> environment) {
    private static final int ROOT = 0;
    private static final int GROUP_WRITES = 0020;
    private static final int OTHERS_WRITE = 0002;
    /** In such a folder everybody may create files, and only their owners may rename them. */
    private static final int STICKY = 01000;

    /** So many the kernel follows. */
    private static final int MOST_LINKS = 40;

    /** Below the folders of all programs. */
    private static final String OURS = "holdfast";

    /**
     * Where our state lives that should outlast the process.
     *
     * @throws CliException if this user has no home, or another user's (sudo may keep HOME), or a loop of links in it
     */
    Path state() {
        Path folder = folder("XDG_STATE_HOME", Path.of(".local", "state"));
        Optional<Path> foreign = foreign(folder.resolve(OURS));
        if (foreign.isPresent()) {
            throw new CliException(
                    ExitCode.USAGE,
                    "another user may change the folder " + foreign.get() + ", below which this user's locks would be"
                            + " kept; set HOME to a folder of this user (sudo -H does), or name a store with --store or "
                            + StoreUrl.VARIABLE);
        }
        return folder.resolve(OURS);
    }

    /**
     * Where our files live that can be made again; empty if another user could exchange them, or there is no such folder.
     * Code that is found there is run.
     */
    Optional<Path> cache() {
        try {
            return Optional.of(folder("XDG_CACHE_HOME", Path.of(".cache")))
                    .map(folder -> folder.resolve(OURS))
                    .filter(folder -> foreign(folder).isEmpty());
        } catch (CliException e) {
            return Optional.empty(); // no home, or a loop of links: no cache
        }
    }

    /** Makes a folder, and those above it, for this user alone. */
    static void make(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            Files.createDirectories(
                    folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
    }

    /** The first folder on the way to one, from the root on, in which another user may exchange what is in it. */
    private static Optional<Path> foreign(Path folder) {
        try {
            return foreign(folder, MOST_LINKS);
        } catch (IOException | UnsupportedOperationException e) {
            return Optional.empty(); // a system without such owners
        }
    }

    /** Behind a link, the way to where it leads counts too. */
    private static Optional<Path> foreign(Path folder, int links) throws IOException {
        Path place = folder.getRoot();
        for (Path name : folder) {
            place = place.resolve(name);
            if (Files.isSymbolicLink(place)) {
                if (links == 0) {
                    throw new CliException(
                            ExitCode.USAGE,
                            "too many links behind each other at " + place + ", perhaps a loop, on the way to " + OURS
                                    + "'s folder; mend them, or name a store with --store or " + StoreUrl.VARIABLE);
                }
                if (!isOfUsOrRoot(place, LinkOption.NOFOLLOW_LINKS)) {
                    return Optional.of(place);
                }
                Optional<Path> behind = foreign(place.resolveSibling(Files.readSymbolicLink(place)), links - 1);
                if (behind.isPresent()) {
                    return behind;
                }
            }
            if (Files.notExists(place)) {
                return Optional.empty(); // made by us, when it is needed
            }
            if (!isOurs(place)) {
                return Optional.of(place);
            }
        }
        return Optional.empty();
    }

    private static boolean isOurs(Path folder) throws IOException {
        Map<String, Object> target = Files.readAttributes(folder, "unix:uid,gid,mode");
        int mode = number(target, "mode");
        int group = number(target, "gid");
        // Some systems give each user a group, and let it write: that group has the user's own number.
        boolean groupIsOthers = group != ROOT && group != number(target, "uid");
        boolean othersWrite = (mode & OTHERS_WRITE) != 0 || (mode & GROUP_WRITES) != 0 && groupIsOthers;
        return isOfUsOrRoot(folder) && (!othersWrite || (mode & STICKY) != 0);
    }

    private static int number(Map<String, Object> attributes, String name) {
        return (int) Objects.requireNonNull(attributes.get(name));
    }

    private static boolean isOfUsOrRoot(Path folder, LinkOption... links) throws IOException {
        int uid = (int) Files.getAttribute(folder, "unix:uid", links);
        try {
            return uid == ROOT || uid == (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        } catch (NoSuchFileException e) { // a Mac
            return Files.getOwner(folder, links).getName().equals(System.getProperty("user.name"));
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
