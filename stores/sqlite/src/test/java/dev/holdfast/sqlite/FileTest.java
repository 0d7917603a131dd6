package dev.holdfast.sqlite;

import static dev.holdfast.sqlite.Rig.attempt;
import static dev.holdfast.sqlite.Rig.claim;
import static dev.holdfast.sqlite.Rig.get;
import static dev.holdfast.sqlite.Rig.hold;
import static dev.holdfast.sqlite.Rig.waiting;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.support.Asked;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where the file may lie, whose it is, and what happens when it, or the disk under it, goes. */
class FileTest extends OnOneFile {
    @Test
    void missingDirectoriesAndTheFileAreTheirOwnersAlone() throws IOException {
        rig = new Rig(folder.resolve("a/b"));
        hold(rig.open(), NAME);

        assertThat(rights(folder.resolve("a"))).isEqualTo("rwx------");
        assertThat(rights(folder.resolve("a/b"))).isEqualTo("rwx------");
        try (var files = Files.list(folder.resolve("a/b"))) {
            assertThat(files)
                    .hasSizeGreaterThan(1) // the file and its log
                    .allSatisfy(file -> assertThat(rights(file)).isEqualTo("rw-------"));
        }
    }

    @Test
    void theRightsOfWhatWasThereAreLeftAlone() throws IOException {
        Files.createFile(rig.file);
        Files.setPosixFilePermissions(rig.file, PosixFilePermissions.fromString("rw-rw-r--"));
        hold(rig.open(), NAME);
        assertThat(rights(rig.file)).isEqualTo("rw-rw-r--");
    }

    @Test
    void aLinkLeadsToTheSameLocks() throws IOException {
        hold(rig.open(), NAME);
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        Files.createSymbolicLink(elsewhere.resolve("locks.db"), rig.file);
        try (Rig linked = new Rig(elsewhere)) {
            assertThat(attempt(linked.open(), NAME)).isEmpty();
        }
    }

    @Test
    void aLinkToAFileSystemThatIsNotKnownToBeLocalIsRefused() throws IOException {
        assumeTrue(Files.exists(Path.of("/proc/version")), "there is no /proc");
        Files.createSymbolicLink(rig.file, Path.of("/proc/version"));
        refused().hasMessageContaining("file system (proc)");
    }

    @Test
    void aLinkToNothingIsRefused() throws IOException {
        Files.createSymbolicLink(rig.file, folder.resolve("gone.db"));
        refused().hasMessageContaining("does not exist");
        assertThat(folder.resolve("gone.db")).doesNotExist();
    }

    @Test
    void aPathThatIsADirectoryIsRefused() throws IOException {
        Files.createDirectory(rig.file);
        refused().hasMessageContaining("is a directory");
    }

    @Test
    void aPathThroughAPlainFileIsRefused() throws IOException {
        rig = new Rig(Files.createFile(folder.resolve("file")));
        refused().hasMessageContaining("directory cannot be created");
    }

    @Test
    void aDeviceIsRefused() {
        assumeTrue(Files.exists(Path.of("/dev/null")), "there is no /dev/null");
        assertThatThrownBy(() -> SqliteFile.prepare(Path.of("/dev/null")))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("not a plain file");
    }

    @Test
    void aDirectoryThatMayNotBeWrittenIsRefusedAndNothingIsMade() throws Exception {
        Path locked = Files.createDirectory(folder.resolve("locked"));
        rig = new Rig(locked);
        try (Protected unused = Protected.make(locked)) {
            refused();
        }
        try (var files = Files.list(locked)) {
            assertThat(files).isEmpty();
        }
    }

    @Test
    void aFileThatMayNotBeWrittenIsRefused() throws Exception {
        hold(rig.open(), NAME);
        rig.close();
        try (Protected unused = Protected.make(rig.file)) {
            assertThatThrownBy(() -> hold(rig.open(), NAME + 1))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining(rig.file.toString())
                    .hasMessageContaining("rights")
                    .hasMessageNotContaining("\n");
        }
    }

    @Test
    void aPlaceOnNoDiskIsRefused() {
        assumeTrue(Files.isDirectory(Path.of("/proc/self")), "there is no /proc");
        rig = new Rig(Path.of("/proc/holdfast-test"));
        refused().hasMessageContaining("its file system (proc)");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "nfs",
                "nfs4",
                "cifs",
                "smb3",
                "smbfs",
                "9p",
                "fuse.sshfs",
                "FUSE.SSHFS",
                "fuse.glusterfs",
                "lustre",
                "virtiofs",
                "fuse",
                "fuse.ceph",
                "fuse.juicefs",
                "fuse.grpcfuse",
                "fakeowner",
                "unknown",
                "a file system of the future"
            })
    void aFileSystemThatIsNotKnownToBeLocalIsRefused(String kind) {
        assertThatThrownBy(() -> SqliteFile.refuseUnlessLocal(rig.file, kind))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining(kind)
                .hasMessageContaining("shared with other machines")
                .hasMessageContaining("name a path on a disk");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "apfs", "NTFS", "fuseblk"})
    void aLocalFileSystemIsNot(String kind) {
        assertThatCode(() -> SqliteFile.refuseUnlessLocal(rig.file, kind)).doesNotThrowAnyException();
    }

    @Test
    void aFullDiskIsToldAndRequestsSucceedWhenThereIsSpaceAgain() throws Exception {
        try (SmallDisk disk = SmallDisk.mount(folder.resolve("small"), 512);
                Rig small = new Rig(disk.path())) {
            SqliteStore one = small.open();
            Grant held = hold(one, NAME);
            Path ballast = disk.fill();

            assertThatThrownBy(() -> {
                        for (int i = 0; i < 10_000; i++) {
                            hold(one, "name-" + i);
                        }
                    })
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining(small.file.toString())
                    .hasMessageContaining("disk is full")
                    .hasMessageNotContaining("\n");

            Files.delete(ballast);
            assertThat(get(one.renew(List.of(held))).get(held.id()).verdict()).isEqualTo(Verdict.HELD);
            hold(one, "afterwards");
        }
    }

    @Test
    void aNewFileOnAFullDiskIsToldWhenItIsOpened() throws Exception {
        try (SmallDisk disk = SmallDisk.mount(folder.resolve("small"), 64);
                Rig small = new Rig(disk.path())) {
            disk.fill();
            assertThatThrownBy(small::open)
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining(small.file.toString());
        }
    }

    @Test
    void aFileOfAnotherBootOnAFullDiskIsToldWhenItIsOpened() throws Exception {
        try (SmallDisk disk = SmallDisk.mount(folder.resolve("small"), 8192);
                Rig small = new Rig(disk.path())) {
            SqliteStore one = small.open();
            for (int i = 0; i < 500; i++) {
                hold(one, "name-" + i);
            }
            small.reboot();
            Path ballast = disk.fill();
            try (FileChannel channel = FileChannel.open(ballast, StandardOpenOption.WRITE)) {
                channel.truncate(channel.size() - 36_864); // the memory that is shared, or some pages
            }

            assertThatThrownBy(small::open)
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining(small.file.toString())
                    .hasMessageContaining("disk is full");

            Files.delete(ballast);
            hold(small.open(), "name-0");
        }
    }

    @Test
    void aFileThatIsDeletedInUseKeepsNoLock() throws Exception {
        SqliteStore one = rig.open();
        Grant grant = hold(one, NAME);
        hold(one, "other");
        Asked waiting = Asked.of(one, waiting("other"));
        await().until(() -> Rig.waiters(one, "other") == 1);

        Files.delete(rig.file);

        await().untilAsserted(() -> assertThat(
                        get(one.renew(List.of(grant))).get(grant.id()).verdict())
                .isEqualTo(Verdict.LOST));
        assertThatThrownBy(() -> get(waiting.answer())).isInstanceOf(StoreRefusedException.class);
        assertThatThrownBy(() -> get(Asked.of(one, claim("new")).answer()))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("'new'")
                .hasMessageContaining("deleted or replaced");
        assertThat(Files.exists(rig.file)).isFalse();
    }

    @Test
    void aFileThatIsReplacedInUseKeepsNoLockInTheOldOne() throws Exception {
        SqliteStore one = rig.open();
        Grant grant = hold(one, NAME);
        Files.delete(rig.file);
        Files.deleteIfExists(Path.of(rig.file + "-wal"));
        Files.deleteIfExists(Path.of(rig.file + "-shm"));

        Grant rival = hold(rig.open(), NAME);

        await().untilAsserted(() -> assertThat(
                        get(one.renew(List.of(grant))).get(grant.id()).verdict())
                .isEqualTo(Verdict.LOST));
        assertThat(rival.id()).isNotEqualTo(grant.id());
    }

    private AbstractThrowableAssert<?, ? extends Throwable> refused() {
        return assertThatThrownBy(rig::open)
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining(rig.file.toString())
                .hasMessageNotContaining("\n");
    }

    private static String rights(Path path) {
        try {
            return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getInputStream().readAllBytes();
        return process.waitFor(20, TimeUnit.SECONDS) && process.exitValue() == 0;
    }

    /** Something that nobody may write, not even root; proven to bite. */
    private record Protected(Path path, String before, boolean immutable) implements AutoCloseable {

        static Protected make(Path path) throws Exception {
            String before = rights(path);
            Files.setPosixFilePermissions(
                    path, PosixFilePermissions.fromString(Files.isDirectory(path) ? "r-xr-xr-x" : "r--r--r--"));
            boolean immutable = !bites(path) && run("chattr", "+i", path.toString());
            Protected made = new Protected(path, before, immutable);
            if (!bites(path)) {
                made.close();
                assumeTrue(false, "this user may write everything, and chattr +i does not work here");
            }
            return made;
        }

        private static boolean bites(Path path) throws IOException {
            try {
                if (Files.isDirectory(path)) {
                    Files.delete(Files.createFile(path.resolve("probe")));
                } else {
                    Files.newByteChannel(path, java.nio.file.StandardOpenOption.WRITE)
                            .close();
                }
                return false;
            } catch (AccessDeniedException e) {
                return true;
            } catch (FileSystemException e) {
                return e.getReason() != null && e.getReason().contains("not permitted");
            }
        }

        @Override
        public void close() throws Exception {
            if (immutable) {
                run("chattr", "-i", path.toString());
            }
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(before));
        }
    }

    /** A disk of a few kilobytes: a tmpfs, which root may mount. */
    private record SmallDisk(Path path) implements AutoCloseable {

        static SmallDisk mount(Path path, int kilobytes) throws Exception {
            Files.createDirectory(path);
            assumeTrue(
                    run("mount", "-t", "tmpfs", "-o", "size=" + kilobytes + "k", "holdfast-testkit", path.toString()),
                    "this user may not mount a small file system");
            return new SmallDisk(path);
        }

        /** Fills it to the last page. */
        Path fill() throws IOException {
            Path ballast = path.resolve("ballast");
            try (var out = Files.newOutputStream(ballast)) {
                byte[] page = new byte[4096];
                while (true) {
                    out.write(page);
                }
            } catch (IOException full) {
                return ballast;
            }
        }

        @Override
        public void close() throws Exception {
            run("umount", path.toString());
        }
    }
}
