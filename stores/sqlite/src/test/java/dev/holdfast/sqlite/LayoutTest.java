package dev.holdfast.sqlite;

import static dev.holdfast.sqlite.Rig.attempt;
import static dev.holdfast.sqlite.Rig.get;
import static dev.holdfast.sqlite.Rig.hold;
import static dev.holdfast.sqlite.Rig.waiting;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.Residue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;

/** What is in the file: created when it is new, refused when it is not ours, too new, damaged. */
class LayoutTest extends OnOneFile {
    @Test
    void anEmptyFileIsANewOne() throws IOException {
        Files.createFile(rig.file);
        hold(rig.open(), NAME);
    }

    @Test
    void manyMayCreateItAtOnce() {
        List<CompletableFuture<SqliteStore>> opening = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            String name = NAME + i;
            opening.add(CompletableFuture.supplyAsync(
                    () -> {
                        SqliteStore store = SqliteStore.open(rig.database(), rig.time);
                        hold(store, name);
                        return store;
                    },
                    task -> new Thread(task).start()));
        }
        opening.forEach(each -> get(each).close());
        assertThat(rig.sql("SELECT count(*) FROM holdfast_meta")).containsExactly("1");
    }

    @Test
    void aNewerLayoutIsRefusedWithBothVersionsNamed() {
        rig.open();
        rig.close();
        rig.sql("UPDATE holdfast_meta SET layout = 2");

        refused().hasMessageContaining("layout 2").hasMessageContaining("layout 1");
    }

    @Test
    void aLockThatANewerVersionKeepsInItsOwnWayIsRefused() {
        SqliteStore one = rig.open();
        hold(one, NAME);
        rig.sql("UPDATE holdfast_lock SET layout = 2, claim_id = NULL");

        assertThatThrownBy(() -> attempt(one, NAME))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining(NAME)
                .hasMessageContaining("layout 2")
                .hasMessageContaining("layout 1");
        hold(one, "other");
        Asked unaffected = Asked.of(one, waiting("other"));
        assertThatThrownBy(() -> get(Asked.of(one, waiting(NAME)).answer())).isInstanceOf(StoreRefusedException.class);
        assertThat(unaffected.answer()).isNotDone();
    }

    @Test
    void theTablesOfSomethingElseAreRefusedAndLeftAlone() {
        rig.sql("CREATE TABLE customer (id INTEGER)");

        refused().hasMessageContaining("customer").hasMessageContaining("file of their own");

        assertThat(rig.sql("SELECT name FROM sqlite_schema")).containsExactly("customer");
        assertThat(rig.sql("PRAGMA journal_mode")).containsExactly("delete");
    }

    @Test
    void tablesOfAnotherShapeAreRefused() {
        rig.sql("CREATE TABLE holdfast_meta (version INTEGER)");
        refused().hasMessageContaining("another shape");
    }

    @Test
    void tablesThatWereChangedAreRefusedWhenTheyAreUsed() {
        SqliteStore one = rig.open();
        rig.sql("ALTER TABLE holdfast_lock RENAME COLUMN number TO grant_number");

        assertThatThrownBy(() -> hold(one, NAME))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining(NAME)
                .hasMessageContaining("another shape");
    }

    @Test
    void anEmptyMetaTableIsRefusedWithWhatHelps() throws IOException {
        hold(rig.open(), NAME);
        rig.close();
        rig.sql("DELETE FROM holdfast_meta");
        refused().hasMessageContaining("holdfast_meta is empty").hasMessageContaining("remove it");

        for (String each : List.of("", "-wal", "-shm")) {
            Files.deleteIfExists(Path.of(rig.file + each));
        }
        assertThat(hold(rig.open(), NAME).number()).isPositive();
    }

    @Test
    void aMetaTableThatIsEmptiedInUseIsToldWithWhatHelps() {
        SqliteStore one = rig.open();
        rig.sql("DELETE FROM holdfast_meta");
        assertThatThrownBy(() -> hold(one, NAME))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("changed by something else")
                .hasMessageContaining("remove it");
    }

    @Test
    void aFileThatIsNoDatabaseIsRefusedAndLeftAlone() throws IOException {
        String text = "a shopping list\n".repeat(1000);
        Files.writeString(rig.file, text);

        refused().hasMessageContaining("not a SQLite database");

        assertThat(Files.readString(rig.file)).isEqualTo(text);
    }

    @Test
    void aDamagedFileIsRefused() throws IOException {
        SqliteStore one = rig.open();
        for (int i = 0; i < 200; i++) {
            hold(one, NAME + i);
        }
        rig.close();
        byte[] bytes = Files.readAllBytes(rig.file);
        for (int i = 4096; i < bytes.length; i++) {
            bytes[i] = (byte) (i * 31);
        }
        Files.write(rig.file, bytes);

        assertThatThrownBy(() -> hold(rig.open(), NAME))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining(rig.file.toString())
                .hasMessageContaining("damaged")
                .hasMessageNotContaining("\n");
    }

    @Test
    void aCleanCloseLeavesOneFile() throws IOException {
        hold(rig.open(), NAME);
        rig.close();
        try (var files = Files.list(folder)) {
            assertThat(files).containsExactly(rig.file);
        }
    }

    @Test
    void theFileIsSoundAfterwards() {
        SqliteStore one = rig.open();
        for (int i = 0; i < 100; i++) {
            Rig.release(one, hold(one, NAME));
        }
        assertThat(rig.sql("PRAGMA integrity_check")).containsExactly("ok");
    }

    /** Opening fails, in one line that names the file, and leaves neither thread nor open file. */
    private AbstractThrowableAssert<?, ? extends Throwable> refused() {
        Residue.Watch watch = Residue.watch().threads("holdfast-");
        if (Residue.canWatchOpenFiles()) {
            watch.openFiles();
        }
        Residue residue = watch.begin();
        var refused = assertThatThrownBy(rig::open)
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining(rig.file.toString())
                .hasMessageNotContaining("\n");
        residue.assertNothingLeft(Duration.ofSeconds(5));
        return refused;
    }
}
