package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the one who looks after the database is given to run. */
class JdbcSchemaTest {
    @Test
    void everyDialectTellsTablesRightsAndConnections() {
        assertThat(JdbcSchema.dialects())
                .contains("postgresql", "mariadb", "mysql", "h2")
                .allSatisfy(dialect -> assertThat(JdbcSchema.script(dialect))
                        .containsPattern("CREATE TABLE (IF NOT EXISTS )?holdfast_lock")
                        .contains("-- Rights: ", "-- Connections: ")
                        .endsWith(";\n"));
    }

    @Test
    void aDialectIsKnownInUpperCaseToo() {
        assertThat(JdbcSchema.script("MariaDB")).isEqualTo(JdbcSchema.script("mariadb"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "oracle", "mariadb "})
    void anUnknownDialectIsAnsweredWithThoseThereAre(String dialect) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JdbcSchema.script(dialect))
                .withMessageContaining("known: postgresql");
    }
}
