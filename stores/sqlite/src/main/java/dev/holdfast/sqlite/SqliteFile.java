package dev.holdfast.sqlite;

import dev.holdfast.StoreRefusedException;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The file, seen from outside: where it may be, who owns it, whether it is still the same one, under one path.
 *
 * <p>SQLite keeps the newest commits in a log beside the path by which it opened the file. So each path of a file, by a
 * hard link or by a mount of the file alone, has locks of its own. A symbolic link is followed first.
 *
 * <p>It is never opened here. A process that closes any descriptor of a file loses all POSIX locks it has on that file,
 * and SQLite's are such: see <a href="https://sqlite.org/howtocorrupt.html">How To Corrupt An SQLite Database File</a>,
 * 2.2. Names, attributes and rights can be read and set without opening it.
 *
 * <p>For one thread.
 */
final class SqliteFile {
    /**
     * File systems that no other machine reaches: on a disk of this machine, in its memory, or layered over these. All
     * others are refused, unknown names too: between machines neither SQLite's locks nor the shared memory beside the
     * file work, and each machine would take the other for an earlier start of its own.
     */
    private static final Set<String> LOCAL = Set.of(
            "ext2",
            "ext3",
            "ext4",
            "xfs",
            "btrfs",
            "zfs",
            "bcachefs",
            "f2fs",
            "jfs",
            "nilfs2",
            "reiserfs",
            "ufs",
            "apfs",
            "hfs",
            "hfsplus",
            "ntfs",
            "ntfs3",
            "fuseblk", // a disk, mounted by a program such as ntfs-3g
            "exfat",
            "vfat",
            "msdos",
            "udf",
            "ecryptfs",
            "tmpfs",
            "ramfs",
            "rootfs",
            "overlay",
            "aufs");

    private static final Path LINUX_MOUNTS = Path.of("/proc/self/mountinfo");

    /** The file, its write-ahead log, and the index of the log. */
    private static final List<String> PARTS = List.of("", "-wal", "-shm");

    private static final String REPLACED =
            "the file, or the -wal or -shm beside it, was deleted or replaced while it was"
                    + " in use, and others no longer see what is done to it; close this client and connect again";

    private static final String OWNER_DIRECTORY = "rwx------";
    private static final String OWNER_FILE = "rw-------";

    private final Path path;
    private final boolean isNew;
    private List<String> identities = List.of();

    private SqliteFile(Path path) {
        this.path = path;
        this.isNew = !Files.exists(path);
    }

    /** A file in messages. */
    static String description(Path file) {
        return "sqlite:" + file.toAbsolutePath().normalize();
    }

    /**
     * Checks the place and creates the directories that are missing. Everything that can be refused is refused before
     * anything is created.
     */
    static SqliteFile prepare(Path given) {
        Path path = given.toAbsolutePath().normalize();
        Path directory = path.getParent();
        if (directory == null || Files.isDirectory(path)) {
            throw refused(path, "it is a directory; name a file in it", null);
        }
        if (Files.exists(path) && !Files.isRegularFile(path)) {
            throw refused(path, "it is not a plain file; name another", null);
        }
        if (Files.isSymbolicLink(path) && !Files.exists(path)) {
            throw refused(path, "it is a link to a file that does not exist; name that file itself", null);
        }
        refuseUnlessLocal(path, fileSystemOf(directory));
        refuseUnlessLocal(path, fileSystemOf(path)); // a link, or a file that is mounted alone, leads elsewhere
        refuseSecondPath(path);
        createDirectories(path, directory);
        if (!Files.isWritable(directory)) {
            throw refused(path, "its directory may not be written; check its rights, or name another", null);
        }
        if (Files.exists(path) && !(Files.isReadable(path) && Files.isWritable(path))) {
            throw refused(path, "it may not be read and written; check its owner and rights", null);
        }
        SqliteFile file = new SqliteFile(path);
        file.createForItsOwnerAlone();
        try {
            file.identities = file.identities(1);
        } catch (IOException e) {
            throw refused(path, "its attributes cannot be read: " + e, e);
        }
        return file;
    }

    /** SQLite would create it with the rights that the process gives to all its files. */
    private void createForItsOwnerAlone() {
        if (!isNew || !isPosix()) {
            return;
        }
        try {
            Files.createFile(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(OWNER_FILE)));
        } catch (FileAlreadyExistsException e) {
            // Another process was first, and did the same.
        } catch (IOException e) {
            throw refused(path, "it cannot be created: " + e, e);
        }
    }

    static void refuseUnlessLocal(Path path, String fileSystem) {
        if (!LOCAL.contains(fileSystem.toLowerCase(Locale.ROOT))) {
            throw refused(
                    path,
                    "its file system (" + fileSystem
                            + ") may be shared with other machines, where SQLite's locks do not"
                            + " hold; name a path on a disk or in the memory of this machine (such as ext4, xfs, btrfs,"
                            + " apfs, tmpfs), or use a database server",
                    null);
        }
    }

    private static void refuseSecondPath(Path path) {
        if (!Files.exists(path)) {
            return;
        }
        try {
            String severalNames = severalNames(path);
            if (severalNames != null) {
                throw refused(path, severalNames, null);
            }
            if (Files.exists(LINUX_MOUNTS) && isMountPoint(path.toRealPath(), Files.readAllBytes(LINUX_MOUNTS))) {
                throw refused(
                        path,
                        "it is mounted alone, so that the log beside it is not shared and others see other locks; mount"
                                + " its folder, and name the file in that",
                        null);
            }
        } catch (IOException e) {
            throw refused(path, "its attributes cannot be read: " + e, e);
        }
    }

    private static @Nullable String severalNames(Path path) throws IOException {
        if (!path.getFileSystem().supportedFileAttributeViews().contains("unix")) {
            return null;
        }
        int names = (Integer) Files.getAttribute(path, "unix:nlink");
        return names < 2
                ? null
                : "the file has " + names + " names (hard links), and under each of them others see other locks; remove"
                        + " all names but one, then connect again";
    }

    /** Whether one of the mounts, lines of {@code /proc/self/mountinfo}, is on this path. */
    private static boolean isMountPoint(Path real, byte[] mounts) {
        String escaped = real.toString()
                .replace("\\", "\\134")
                .replace(" ", "\\040")
                .replace("\t", "\\011")
                .replace("\n", "\\012");
        Charset ofPaths = Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));
        return new String(mounts, ofPaths).lines().anyMatch(line -> line.split(" ", 6)[4].equals(escaped));
    }

    Path path() {
        return path;
    }

    /** Whether there was no such file before. */
    boolean isNew() {
        return isNew;
    }

    /** Called once the file is open and was read: the parts beside it are there from now on. */
    void opened() {
        try {
            List<String> open = identities(PARTS.size());
            if (!open.get(0).equals(identities.get(0))) {
                throw refused(path, REPLACED, null);
            }
            identities = open;
        } catch (IOException e) {
            throw refused(path, "its attributes cannot be read: " + e, e);
        }
    }

    /** Why other processes may no longer see what this one does to the file; null while they do. */
    @Nullable
    String whyApart() {
        try {
            return identities.equals(identities(identities.size())) ? severalNames(path) : REPLACED;
        } catch (NoSuchFileException e) {
            return REPLACED;
        } catch (IOException e) {
            return null; // nothing was learnt
        }
    }

    /** The inodes and devices of its first parts. */
    private List<String> identities(int parts) throws IOException {
        Path real = path.toRealPath();
        List<String> found = new ArrayList<>();
        for (String part : PARTS.subList(0, parts)) {
            Path file = real.resolveSibling(real.getFileName() + part);
            found.add(String.valueOf(
                    Files.readAttributes(file, BasicFileAttributes.class).fileKey()));
        }
        return found;
    }

    private boolean isPosix() {
        return path.getFileSystem().supportedFileAttributeViews().contains("posix");
    }

    private static String fileSystemOf(Path directory) {
        Path existing = directory;
        while (!Files.exists(existing) && existing.getParent() != null) {
            existing = existing.getParent();
        }
        try {
            return Files.getFileStore(existing).type();
        } catch (IOException | SecurityException e) {
            return "unknown"; // a container that hides its mounts
        }
    }

    private static void createDirectories(Path path, Path directory) {
        if (Files.isDirectory(directory)) {
            return;
        }
        try {
            if (directory.getFileSystem().supportedFileAttributeViews().contains("posix")) {
                Files.createDirectories(
                        directory,
                        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(OWNER_DIRECTORY)));
            } else {
                Files.createDirectories(directory);
            }
        } catch (IOException e) {
            throw refused(path, "its directory cannot be created (" + e + "); create it, or name another", e);
        }
    }

    private static StoreRefusedException refused(Path path, String why, @Nullable Exception cause) {
        return new StoreRefusedException("cannot use sqlite:" + path + ": " + why, cause);
    }
}
