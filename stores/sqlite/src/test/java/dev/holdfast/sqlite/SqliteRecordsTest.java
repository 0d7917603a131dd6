package dev.holdfast.sqlite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.RecordWrite;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the file keeps of work that ran once. */
class SqliteRecordsTest {
    private static final RecordWrite DONE = new RecordWrite("job", 1, RecordWrite.ANY, "done", Duration.ofMinutes(1));

    /** As SQLite numbers them. */
    private static final String NORMAL = "1";

    private static final String FULL = "2";

    @TempDir
    Path folder;

    /** No test can pull the plug: a trigger notes how the commit that it belongs to is written. */
    @Test
    void aRecordIsOnTheDiskWhenItsWriteIsAnsweredAndALockSoonAfter() {
        try (Rig rig = new Rig(folder)) {
            SqliteStore store = rig.open();
            assertThat(Rig.get(store.writeRecord(DONE))).isPresent();
            rig.sql("CREATE TABLE seen (how INTEGER)");
            for (String table : new String[] {"record", "lock"}) {
                rig.sql("CREATE TRIGGER " + table + " AFTER UPDATE ON holdfast_" + table
                        + " BEGIN INSERT INTO seen SELECT synchronous FROM pragma_synchronous; END");
            }

            assertThat(Rig.get(store.writeRecord(DONE))).isPresent();
            assertThat(rig.sql("SELECT how FROM seen")).containsExactly(FULL);

            assertThat(Rig.release(store, Rig.hold(store, "order:42"))).isTrue();
            assertThat(rig.sql("SELECT how FROM seen")).containsOnlyOnce(FULL).contains(NORMAL);
        }
    }

    @Test
    void aRecordThatIsMadeAgainAfterItsRowWasRemovedHasAHigherRevision() {
        try (Rig rig = new Rig(folder)) {
            SqliteStore store = rig.open();
            long last = 0;
            for (int i = 0; i < 50; i++) {
                last = Rig.get(store.writeRecord(DONE)).orElseThrow().revision();
            }
            assertThat(Rig.get(store.writeRecord(new RecordWrite("job", 1, last, "done", Duration.ZERO))))
                    .isPresent();
            while (!rig.sql("SELECT name FROM holdfast_record WHERE name = 'job'")
                    .isEmpty()) {
                assertThat(Rig.get(store.writeRecord(
                                new RecordWrite("another", 1, RecordWrite.ANY, "done", Duration.ofMinutes(1)))))
                        .isPresent();
            }

            assertThat(Rig.get(store.writeRecord(DONE)).orElseThrow().revision())
                    .isGreaterThan(last);
        }
    }

    @Test
    void anIndexThatIsMissingIsMadeByTheNextWrite() {
        try (Rig rig = new Rig(folder)) {
            assertThat(Rig.get(rig.open().writeRecord(DONE))).isPresent();
            rig.sql("DELETE FROM holdfast_record");
            rig.sql("DROP INDEX holdfast_record_until"); // as after a crash between the two

            assertThat(Rig.get(rig.open().writeRecord(DONE))).isPresent();

            assertThat(rig.sql("SELECT count(*) FROM sqlite_schema WHERE name = 'holdfast_record_until'"))
                    .containsExactly("1");
        }
    }
}
