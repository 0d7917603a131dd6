package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockClient;
import dev.holdfast.Once;
import dev.holdfast.StoreRefusedException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What every server must stand of the second table, in which work that ran once is recorded. */
abstract class RecordTableCases extends ServerCases {

    /** How many indexes the table of records has besides its primary key; of the present schema. */
    protected abstract String recordIndexes();

    final void dropRecords() {
        sql("DROP TABLE IF EXISTS holdfast_lock_record");
    }

    @Test
    void whereThereIsNoTableOfRecordsNothingHasRunAndReadingMakesNone() {
        dropRecords();
        for (String url : new String[] {url(), with(url(), "holdfast.createTable=false")}) {
            try (LockClient client = LockClient.connect(url)) {
                assertThat(client.once("job").last()).isEmpty();
                assertThat(client.onceRuns("*")).isEmpty();
                assertThatThrownBy(() -> sql("SELECT count(*) FROM holdfast_lock_record"))
                        .isInstanceOf(AssertionError.class);
            }
        }
    }

    @Test
    void theFirstRunMakesTheTableWithItsIndex() {
        dropRecords();
        try (LockClient client = LockClient.connect(url())) {
            assertThat(client.once("job").run(turn -> {}).ran()).isTrue();
            assertThat(client.once("job").run(turn -> {}).ran()).isFalse();
        }
        assertThat(ask(recordIndexes())).isEqualTo("1");
    }

    @Test
    void aTableOfRecordsInAnotherSchemaIsMadeAndUsedThere() {
        sql("CREATE SCHEMA IF NOT EXISTS elsewhere", "DROP TABLE IF EXISTS elsewhere.holdfast_lock_record");
        try (LockClient client = LockClient.connect(with(url(), "holdfast.schema=elsewhere"))) {
            assertThat(client.once("job").run(turn -> {}).ran()).isTrue();
        }
        assertThat(ask("SELECT count(*) FROM elsewhere.holdfast_lock_record")).isEqualTo("1");
    }

    @Test
    @Tag("thorough")
    void whereOnlyTheTableOfLocksIsThereTheScriptMakesTheOther() {
        LockClient.connect(url()).close();
        dropRecords();
        for (int twice = 0; twice < 2; twice++) {
            sql(JdbcSchema.script(dialect()).split(";\\s*\\n"));
        }
        try (LockClient client = LockClient.connect(with(url(), "holdfast.createTable=false"))) {
            assertThat(client.once("job").run(turn -> {}).ran()).isTrue();
        }
        assertThat(ask(recordIndexes())).isEqualTo("1");
    }

    @Test
    void aMessageNamesTheTableOfRecords() {
        dropRecords();
        sql("CREATE TABLE holdfast_lock_record (name VARCHAR(20), layout INT)");
        try (LockClient client = LockClient.connect(url())) {
            Once job = client.once("job");
            assertThatThrownBy(job::last)
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("table holdfast_lock_record has another shape");
        } finally {
            dropRecords();
        }
        try (LockClient client = LockClient.connect(with(url(), "holdfast.createTable=false"))) {
            assertThatThrownBy(() -> client.once("job").run(turn -> {}).message())
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("there is no table holdfast_lock_record")
                    .hasMessageContaining("holdfast schema " + dialect());
        }
    }
}
