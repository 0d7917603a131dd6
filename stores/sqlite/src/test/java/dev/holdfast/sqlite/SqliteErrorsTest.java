package dev.holdfast.sqlite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.sqlite.NativeLibraryNotFoundException;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

class SqliteErrorsTest {
    private static final String ACTION = "cannot claim 'order:42' on sqlite:/a/b";

    private static HoldfastException explained(SQLException e) {
        return SqliteErrors.explain(ACTION, new BusyTimeout(Duration.ofSeconds(10)), e);
    }

    private static HoldfastException explained(SQLiteErrorCode code) {
        return explained(new SQLiteException("[" + code.name() + "] " + code.message, code));
    }

    @ParameterizedTest
    @EnumSource
    void everyCodeIsExplainedInOneLineWithSomethingToDo(SQLiteErrorCode code) {
        HoldfastException e = explained(code);
        assertThat(e).isInstanceOfAny(StoreRefusedException.class, StoreUnavailableException.class);
        assertThat(e).hasMessageStartingWith(ACTION + ": ").hasMessageContaining("; ");
        assertThat(e.getMessage()).doesNotContain("\n");
        assertThat(e).hasCauseInstanceOf(SQLException.class);
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.MATCH_ANY, names = "SQLITE_(BUSY|LOCKED|PROTOCOL).*")
    void aBusyFilePasses(SQLiteErrorCode code) {
        assertThat(SqliteErrors.isBusy(explained(code).getCause())).isTrue();
        assertThat(explained(code))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("10 s");
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.MATCH_ANY, names = "SQLITE_(FULL|IOERR|NOMEM).*")
    void aSickDiskMayRecover(SQLiteErrorCode code) {
        assertThat(explained(code)).isInstanceOf(StoreUnavailableException.class);
        assertThat(SqliteErrors.isBusy(explained(code).getCause())).isFalse();
    }

    @ParameterizedTest
    @EnumSource(
            mode = Mode.MATCH_ANY,
            names = "SQLITE_(NOTADB|CORRUPT|READONLY|PERM|AUTH|CANTOPEN|ERROR|CONSTRAINT|MISMATCH).*")
    void whatTryingAgainDoesNotChangeIsRefused(SQLiteErrorCode code) {
        assertThat(explained(code)).isInstanceOf(StoreRefusedException.class);
    }

    @Test
    void aLibraryThatCannotBeLoadedIsRefusedWithThePropertyThatHelps() {
        SQLException e = new SQLException("Error opening connection", new NativeLibraryNotFoundException("none"));
        assertThat(explained(e)).isInstanceOf(StoreRefusedException.class).hasMessageContaining("-Dorg.sqlite.tmpdir");
    }

    @Test
    void anErrorOfTheDriverIsNotLost() {
        assertThat(explained(new SQLException("stmt pointer is closed")))
                .hasMessageContaining("stmt pointer is closed");
    }
}
