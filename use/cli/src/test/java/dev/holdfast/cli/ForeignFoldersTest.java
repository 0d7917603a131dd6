package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** HOME is a folder of somebody else, as sudo may leave it: nothing of ours goes where another user could exchange it. */
@Tag("thorough")
class ForeignFoldersTest extends OnOwnStore {
    private Path home;

    @BeforeEach
    void aHome() throws IOException {
        home = Files.createDirectory(folder.resolve("home"));
    }

    private ChildProcess.Builder run() {
        return cli.script("run", "job", "--", "echo", "in")
                .environment("HOME", home.toString())
                .withoutEnvironment("XDG_STATE_HOME")
                .withoutEnvironment("XDG_CACHE_HOME");
    }

    private void giveToAnotherUser(Path file) {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root may give files away");
        try {
            new ProcessBuilder("chown", "65534", file.toString())
                    .start()
                    .onExit()
                    .join();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void assertRefused() {
        Cli.Ended ended = Cli.end(run().withoutEnvironment("HOLDFAST_STORE").start());

        assertThat(ended.code()).isEqualTo(ExitCode.USAGE);
        assertThat(ended.out()).isEmpty();
        assertThat(ended.err())
                .singleElement()
                .asString()
                .contains("another user may change the folder " + home, "sudo -H", "--store");
        assertThat(home).isEmptyDirectory();
    }

    @Test
    void noLocksAreKeptInTheHomeOfAnotherUser() {
        giveToAnotherUser(home);
        assertRefused();
    }

    @Test
    void noLocksAreKeptWhereEverybodyWrites() throws IOException {
        Files.setPosixFilePermissions(home, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertRefused();
    }

    @Test
    void noLibraryIsKeptInTheHomeOfAnotherUserAndANamedStoreIsOfUse() {
        giveToAnotherUser(home);
        Cli.Ended ended = Cli.end(run().start());

        assertThat(ended).isEqualTo(new Cli.Ended(0, List.of("in"), List.of()));
        assertThat(home).isEmptyDirectory();
    }

    @Test
    void aLinkOfAnotherUsersIsNotFollowed() throws IOException {
        Path real = Files.createDirectory(folder.resolve("real"));
        Files.createSymbolicLink(home.resolve(".local"), real);
        new ProcessBuilder("chown", "-h", "65534", home.resolve(".local").toString())
                .start()
                .onExit()
                .join();
        assumeTrue("root".equals(System.getProperty("user.name")), "only root may give files away");
        Cli.Ended ended = Cli.end(run().withoutEnvironment("HOLDFAST_STORE").start());

        assertThat(ended.code()).isEqualTo(ExitCode.USAGE);
        assertThat(real).isEmptyDirectory();
    }

    @Test
    void aLinkOfOurOwnThatLeadsThroughAFolderOfAnotherUserIsNotFollowed() throws IOException {
        Path theirs = Files.createDirectory(folder.resolve("theirs"));
        Path real = Files.createDirectory(theirs.resolve("real"));
        Files.createSymbolicLink(home.resolve(".local"), real);
        giveToAnotherUser(theirs);
        Cli.Ended ended = Cli.end(run().withoutEnvironment("HOLDFAST_STORE").start());

        assertThat(ended.code()).as(ended.toString()).isEqualTo(ExitCode.USAGE);
        assertThat(ended.err()).singleElement().asString().contains("another user may change the folder " + theirs);
        assertThat(real).isEmptyDirectory();
    }

    @Test
    void aLoopOfLinksIsReportedAsALoop() throws IOException {
        Files.createSymbolicLink(home.resolve(".local"), Path.of(".other"));
        Files.createSymbolicLink(home.resolve(".other"), Path.of(".local"));
        Cli.Ended ended = Cli.end(run().withoutEnvironment("HOLDFAST_STORE").start());

        assertThat(ended.code()).isEqualTo(ExitCode.USAGE);
        assertThat(ended.err())
                .singleElement()
                .asString()
                .contains("too many links", "perhaps a loop", home + "/.", "--store")
                .doesNotContain("another user");
    }

    @Test
    void aLinkOfOurOwnIsFollowed() throws IOException {
        Path real = Files.createDirectory(folder.resolve("real"));
        Files.createSymbolicLink(home.resolve(".local"), Path.of("../real"));
        Cli.Ended ended = Cli.end(run().withoutEnvironment("HOLDFAST_STORE").start());

        assertThat(ended).isEqualTo(new Cli.Ended(0, List.of("in"), List.of()));
        assertThat(real.resolve("state/holdfast/locks.db")).isRegularFile();
    }

    @Test
    void aHomeOfItsOwnIsUsedAsBefore() {
        Cli.Ended ended = Cli.end(run().withoutEnvironment("HOLDFAST_STORE").start());

        assertThat(ended).isEqualTo(new Cli.Ended(0, List.of("in"), List.of()));
        assertThat(home.resolve(".local/state/holdfast/locks.db")).isRegularFile();
    }
}
