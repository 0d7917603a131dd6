package dev.holdfast.testbed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.Selector;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResidueTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    @Test
    void aThreadLeftBehindIsNamedWithWhatItDoes() throws InterruptedException {
        Residue residue = Residue.watch().threads("left-").begin();
        CountDownLatch release = new CountDownLatch(1);
        Thread thread = start("left-over", release);
        try {
            assertLeft(residue, "left-over", "CountDownLatch.await");
        } finally {
            release.countDown();
            thread.join();
        }
        residue.assertNothingLeft(SOON);
    }

    @Test
    void threadsOfOtherNamesAndThreadsFromBeforeAreNotLeft() throws InterruptedException {
        CountDownLatch release = new CountDownLatch(1);
        Thread before = start("left-from-before", release);
        Residue residue = Residue.watch().threads("left-").begin();
        Thread other = start("right-", release);
        try {
            assertThat(residue.left()).isEmpty();
        } finally {
            release.countDown();
            before.join();
            other.join();
        }
    }

    @Test
    void whatIsEndingIsAwaited() {
        Residue residue = Residue.watch().threads("left-").begin();
        CountDownLatch release = new CountDownLatch(1);
        start("left-but-ending", release);
        new Thread(() -> {
                    // Late enough for the check to have looked before, and to have found the thread.
                    Await.until(Duration.ofMillis(50), () -> false);
                    release.countDown();
                })
                .start();
        residue.assertNothingLeft(SOON);
        assertThat(release.getCount()).isZero();
    }

    @Test
    void aChildLeftBehindIsNamedWithItsCommand() {
        Residue residue = Residue.watch().children().begin();
        try (ChildProcess child = ChildProcess.command("sleep", "299").start()) {
            assertLeft(residue, Long.toString(child.pid()), "sleep");
        }
        residue.assertNothingLeft(SOON);
    }

    @Test
    void anOpenSocketLeftBehindIsSeen() throws IOException {
        Residue residue = openFiles();
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThat(socket.isBound()).isTrue();
            assertLeft(residue, "open file", "socket:");
        }
        residue.assertNothingLeft(SOON);
    }

    @Test
    void anOpenFileLeftBehindIsSeenHoweverOftenItWasOpenBefore(@TempDir Path folder) throws IOException {
        Path file = Files.createFile(folder.resolve("opened-twice"));
        try (InputStream before = Files.newInputStream(file)) {
            Residue residue = openFiles();
            assertThat(before.read()).isEqualTo(-1);
            try (InputStream again = Files.newInputStream(file)) {
                assertThat(again.read()).isEqualTo(-1);
                assertLeft(residue, "opened-twice", "2 times");
            }
            residue.assertNothingLeft(SOON);
        }
    }

    @Test
    void selectorsAreCountedThoughTheyAllLookAlike() throws IOException {
        try (Selector before = Selector.open()) {
            Residue residue = openFiles();
            assertThat(before.isOpen()).isTrue();
            try (Selector again = Selector.open()) {
                assertThat(again.isOpen()).isTrue();
                assertLeft(residue, "open file", "times");
            }
            residue.assertNothingLeft(SOON);
        }
    }

    @Test
    void whatTheJdkOpensForItsFirstSocketIsNotLeft() {
        assumeTrue(Residue.canWatchOpenFiles(), "open files can be watched on Linux only");
        try (ChildProcess jvm = ChildJvm.main(Programs.FirstSocket.class).start()) {
            jvm.expect("nothing left", SOON);
        }
    }

    @Test
    void aFileLeftBehindIsNamed(@TempDir Path folder) throws IOException {
        Files.createFile(folder.resolve("before"));
        Residue residue = Residue.watch().files(folder).begin();
        Path deep = Files.createDirectories(folder.resolve("a/b")).resolve("left.db");
        Files.createFile(deep);
        assertLeft(residue, deep.toString(), folder.resolve("a").toString());
        Folders.delete(folder.resolve("a"));
        residue.assertNothingLeft(SOON);
    }

    @Test
    void aFolderThatNeverWasHasNothingInIt(@TempDir Path folder) {
        Residue residue = Residue.watch().files(folder.resolve("none")).begin();
        assertThatCode(() -> residue.assertNothingLeft(Duration.ZERO)).doesNotThrowAnyException();
    }

    @Test
    void everythingWatchedIsLookedAt(@TempDir Path folder) throws IOException {
        Residue residue =
                Residue.watch().threads("left-").children().files(folder).begin();
        Files.createFile(folder.resolve("left.db"));
        try (ChildProcess child = ChildProcess.command("sleep", "298").start()) {
            assertThat(child.isAlive()).isTrue();
            assertThat(residue.left()).hasSize(2);
        }
    }

    private static Residue openFiles() {
        assumeTrue(Residue.canWatchOpenFiles(), "open files can be watched on Linux only");
        return Residue.watch().openFiles().begin();
    }

    private static void assertLeft(Residue residue, String... words) {
        assertThatThrownBy(() -> residue.assertNothingLeft(Duration.ofMillis(5)))
                .isInstanceOf(AssertionError.class)
                .hasMessageContainingAll(words);
    }

    private static Thread start(String name, CountDownLatch release) {
        Thread thread = new Thread(
                () -> {
                    try {
                        release.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                name);
        thread.start();
        return thread;
    }
}
