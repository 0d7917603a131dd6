package dev.holdfast.sqlite;

import static dev.holdfast.sqlite.Rig.attempt;
import static dev.holdfast.sqlite.Rig.get;
import static dev.holdfast.sqlite.Rig.hold;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.testbed.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Another boot id is a reboot only if no other process has the file open: a container may show an id of its own. */
class SecondBootTest extends OnOneFile {
    private static final Duration BRIEF = Duration.ofMillis(300);

    private Path otherBootId;

    @BeforeEach
    void anotherBoot() throws Exception {
        otherBootId = Files.writeString(folder.resolve("boot_id"), "11111111-2222-4333-8444-555555555555\n");
    }

    @Test
    void aContainerWithABootIdOfItsOwnFreesNoLiveLock() throws Exception {
        try (LockClient client = LockClient.connect("sqlite:" + rig.file);
                Hold hold = client.lock(NAME).acquire();
                ChildProcess visitor = Elsewhere.bootedAs(otherBootId, rig.file)) {
            assertThat(Elsewhere.answer(visitor))
                    .startsWith("refused: ")
                    .contains(rig.file.toString())
                    .contains("another boot id")
                    .contains("database server");
            assertThat(client.lock(NAME).status().isHeld()).isTrue();
            assertThat(hold.isValid()).isTrue();
        }
    }

    @Test
    void norDoesTheMachineItselfFreeThoseOfTheContainer() throws Exception {
        try (ChildProcess visitor = Elsewhere.bootedAs(otherBootId, rig.file)) {
            assertThat(Elsewhere.answer(visitor)).isEqualTo("held");
            visitor.stop(); // idle or stopped, it has the file open

            assertThatThrownBy(() -> rig.open(BRIEF)).isInstanceOf(StoreRefusedException.class);

            visitor.cont();
            visitor.kill();
            assertThat(attempt(rig.open(), NAME)).as("nobody has the file open").isPresent();
        }
    }

    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"--pid --fork --kill-child --mount-proc", "--pid --fork --kill-child", "--ipc --net --uts"})
    void aProcessInNamespacesOfItsOwnCountsToo(String namespaces) throws Exception {
        List<String> prefix = new ArrayList<>(List.of("unshare"));
        prefix.addAll(List.of(namespaces.split(" ")));
        try (ChildProcess visitor = Elsewhere.visitor(prefix, rig.file)) {
            assertThat(Elsewhere.answer(visitor)).isEqualTo("held");

            assertThatThrownBy(() -> rig.open(BRIEF))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("another boot id");
            try (LockClient client = LockClient.connect("sqlite:" + rig.file)) {
                assertThat(client.lock(NAME).tryAcquire()).isEmpty();
            }
        }
    }

    @Test
    void aProcessInATimeNamespaceOfItsOwnIsRefused() throws Exception {
        List<String> prefix = List.of("unshare", "--time", "--monotonic", "86400", "--fork", "--kill-child");
        try (ChildProcess visitor = Elsewhere.visitor(prefix, rig.file)) {
            assertThat(Elsewhere.answer(visitor)).startsWith("refused: ").contains("time namespace");
        }
    }

    @Test
    void anotherClientOfThisProcessCountsToo() {
        SqliteStore one = rig.open();
        Grant grant = hold(one, NAME);
        hold(rig.open(), "other");

        rig.bootId = "another boot";

        assertThatThrownBy(() -> rig.open(BRIEF))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("another boot id")
                .hasMessageNotContaining("\n");
        assertThat(get(one.renew(List.of(grant))).get(grant.id()).verdict()).isEqualTo(Verdict.HELD);
        assertThat(attempt(one, "other")).isEmpty();
    }

    @Test
    @Tag("thorough")
    void manyMayOpenItAtOnceAfterAReboot() throws Exception {
        hold(rig.open(), NAME);
        rig.close();
        rig.sql("UPDATE holdfast_meta SET boot_id = 'the boot before'");
        List<CompletableFuture<LockClient>> opening = new ArrayList<>();
        try (ChildProcess first = Elsewhere.visitor(List.of(), rig.file);
                ChildProcess second = Elsewhere.visitor(List.of(), rig.file)) {
            for (int i = 0; i < 8; i++) {
                opening.add(CompletableFuture.supplyAsync(
                        () -> LockClient.connect("sqlite:" + rig.file), task -> new Thread(task).start()));
            }
            for (CompletableFuture<LockClient> each : opening) {
                get(each);
            }
            assertThat(List.of(Elsewhere.answer(first), Elsewhere.answer(second)))
                    .containsExactlyInAnyOrder("held", "busy");
        } finally {
            opening.forEach(each -> get(each).close());
        }
    }

    @Test
    void aFileThatLostItsWriteAheadLogGetsItBackSoThatItsUsersAreSeen() {
        rig.open();
        rig.close();
        assertThat(rig.sql("PRAGMA journal_mode = DELETE")).containsExactly("delete");
        Grant grant = hold(rig.open(), NAME);

        rig.bootId = "another boot";

        assertThatThrownBy(() -> rig.open(BRIEF)).isInstanceOf(StoreRefusedException.class);
        assertThat(grant.number()).isPositive();
        assertThat(rig.sql("PRAGMA journal_mode")).containsExactly("wal");
    }
}
