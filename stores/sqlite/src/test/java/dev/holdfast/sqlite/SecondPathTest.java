package dev.holdfast.sqlite;

import static dev.holdfast.sqlite.Rig.attempt;
import static dev.holdfast.sqlite.Rig.claim;
import static dev.holdfast.sqlite.Rig.get;
import static dev.holdfast.sqlite.Rig.hold;
import static dev.holdfast.sqlite.Rig.waiting;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One file under two paths has a log beside each, and so locks of its own under each: it is refused. */
class SecondPathTest extends OnOneFile {
    private Path elsewhere;

    @BeforeEach
    void anotherFolder() throws Exception {
        elsewhere = Files.createDirectory(folder.resolve("else where"));
    }

    @Test
    void aFileWithTwoNamesIsRefusedUnderEach() throws Exception {
        hold(rig.open(), NAME);
        rig.close();
        Files.createLink(elsewhere.resolve("locks.db"), rig.file);

        for (Path each : List.of(folder, elsewhere)) {
            assertThatThrownBy(() -> new Rig(each).open())
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining(each.resolve("locks.db").toString())
                    .hasMessageContaining("2 names")
                    .hasMessageContaining("remove")
                    .hasMessageNotContaining("\n");
            assertThat(each.resolve("locks.db-wal")).doesNotExist();
        }
        Files.delete(elsewhere.resolve("locks.db"));
        assertThat(attempt(rig.open(), NAME)).as("its locks are as they were").isEmpty();
    }

    @Test
    void aSecondNameThatIsMadeInUseEndsTheHoldsAndIsRefusedItself() throws Exception {
        SqliteStore one = rig.open();
        Grant grant = hold(one, NAME);
        Asked waits = Asked.of(one, waiting(NAME));
        await().until(() -> Rig.waiters(one, NAME) == 1);

        Files.createLink(elsewhere.resolve("locks.db"), rig.file);

        assertThatThrownBy(() -> new Rig(elsewhere).open())
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("2 names");
        awaitLoss(one, grant);
        assertThatThrownBy(() -> get(waits.answer())).isInstanceOf(StoreRefusedException.class);
        assertThatThrownBy(() -> get(Asked.of(one, claim("new")).answer()))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("'new'")
                .hasMessageContaining("2 names")
                .hasMessageContaining("connect again");
    }

    @Test
    void theHolderHearsOfASecondName() throws Exception {
        try (LockClient client = LockClient.connect("sqlite:" + rig.file)) {
            Hold hold = client.lock(NAME, HoldOptions.defaults().lease(Duration.ofSeconds(3)))
                    .acquire();
            List<String> losses = new CopyOnWriteArrayList<>();
            hold.onLost(loss -> losses.add("lost"));

            Files.createLink(elsewhere.resolve("locks.db"), rig.file);

            await().until(() -> !losses.isEmpty());
            assertThat(hold.isValid()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-wal", "-shm"})
    void aFileThatIsMovedInUseOrLosesItsLogKeepsNoLock(String end) throws Exception {
        SqliteStore one = rig.open();
        Grant grant = hold(one, NAME);

        Files.move(Path.of(rig.file + end), elsewhere.resolve("locks.db" + end));

        awaitLoss(one, grant);
        assertThatThrownBy(() -> attempt(one, "new"))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("deleted or replaced");
    }

    @Test
    void aFileThatIsMountedAloneIsRefused() throws Exception {
        Path mounted = Files.createFile(elsewhere.resolve("locks.db"));
        try (LockClient client = LockClient.connect("sqlite:" + rig.file);
                Hold hold = client.lock(NAME).acquire();
                ChildProcess visitor =
                        Elsewhere.mounted("mount --bind '" + rig.file + "' '" + mounted + "'", mounted)) {
            assertThat(Elsewhere.answer(visitor))
                    .startsWith("refused: ")
                    .contains(mounted.toString())
                    .contains("mounted alone")
                    .contains("mount its folder");
            assertThat(hold.isValid()).isTrue();
        }
    }

    @Test
    @Tag("thorough")
    void aLinkToAFileThatIsMountedAloneIsRefused() throws Exception {
        Path mounted = Files.createFile(elsewhere.resolve("locks.db"));
        Path link = Files.createSymbolicLink(folder.resolve("link.db"), mounted);
        Files.createFile(rig.file);
        try (ChildProcess visitor = Elsewhere.mounted("mount --bind '" + rig.file + "' '" + mounted + "'", link)) {
            assertThat(Elsewhere.answer(visitor)).startsWith("refused: ").contains("mounted alone");
        }
    }

    @Test
    @Tag("thorough")
    void aFolderThatIsMountedLeadsToTheSameLocks() throws Exception {
        try (LockClient client = LockClient.connect("sqlite:" + rig.file);
                Hold hold = client.lock(NAME).acquire();
                ChildProcess visitor = Elsewhere.mounted(
                        "mount --bind '" + folder + "' '" + elsewhere + "'", elsewhere.resolve("locks.db"))) {
            assertThat(Elsewhere.answer(visitor)).isEqualTo("busy");
            assertThat(hold.isValid()).isTrue();
        }
    }

    @Test
    void aFileThatIsMountedOverInUseKeepsNoLock() throws Exception {
        SqliteStore one = rig.open();
        Grant grant = hold(one, NAME);
        Path other = Files.createFile(elsewhere.resolve("other.db"));
        assumeTrue(run("mount", "--bind", other.toString(), rig.file.toString()), "this user may not mount");
        try {
            assertThatThrownBy(() -> new Rig(folder).open())
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("mounted alone");
            awaitLoss(one, grant);
        } finally {
            run("umount", "--lazy", rig.file.toString());
        }
    }

    @Test
    void aFenceIsNotCheckedUnderASecondName() throws Exception {
        rig.open();
        rig.close();
        Files.createLink(elsewhere.resolve("locks.db"), rig.file);
        try (SqliteFence fence = new SqliteFence(rig.file)) {
            assertThatThrownBy(() -> fence.check("report", 7))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("2 names");
        }
    }

    private static void awaitLoss(SqliteStore store, Grant grant) {
        await().untilAsserted(() -> assertThat(
                        get(store.renew(List.of(grant))).get(grant.id()).verdict())
                .isEqualTo(Verdict.LOST));
    }

    private static boolean run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getInputStream().readAllBytes();
        return process.waitFor() == 0;
    }
}
