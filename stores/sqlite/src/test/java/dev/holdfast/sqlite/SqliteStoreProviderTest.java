package dev.holdfast.sqlite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Capabilities;
import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.LockMode;
import dev.holdfast.StaleTokenException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.StoreFence;
import dev.holdfast.spi.StoreProvider;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SqliteStoreProviderTest {
    @TempDir
    Path folder;

    @Test
    void theServiceLoaderFindsIt() {
        assertThat(ServiceLoader.load(StoreProvider.class))
                .hasAtLeastOneElementOfType(SqliteStoreProvider.class)
                .anySatisfy(provider -> assertThat(provider.schemes()).containsExactly("sqlite"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite:", "SQLITE:"})
    void aClientConnectsByUrl(String scheme) throws InterruptedException {
        String url = scheme + folder.resolve("locks.db");
        try (LockClient client = LockClient.connect(url);
                Hold hold = client.lock("order:42").acquire()) {
            assertThat(hold.isValid()).isTrue();
            assertThat(client.list("*")).extracting(status -> status.name()).containsExactly("order:42");
            assertThat(client).hasToString("LockClient[sqlite:" + folder.resolve("locks.db") + "]");
        }
    }

    @Test
    void aFenceInTheFileOfTheLocksRefusesALowerToken() {
        String url = "sqlite:" + folder.resolve("locks.db");
        long token = Long.MAX_VALUE - 1;
        LockClient.connect(url).close();
        try (StoreFence fence = new SqliteStoreProvider().openFence(url, Optional.empty())) {
            fence.check("report", token);
            fence.check("report", token);
            assertThatThrownBy(() -> fence.check("report", token - 1)).isInstanceOf(StaleTokenException.class);
            fence.check("Report", token - 1);
        }
        LockClient.connect(url).close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"'nonsense'", "''", "1.5", "1e19", "x'00'", "x'35'"})
    void aValueOfAnotherProgramIsNoFence(String foreign) throws SQLException {
        Path file = folder.resolve("locks.db");
        String url = "sqlite:" + file;
        LockClient.connect(url).close();
        try (StoreFence fence = new SqliteStoreProvider().openFence(url, Optional.empty());
                Connection other = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = other.createStatement()) {
            fence.check("report", 1);
            statement.execute("UPDATE holdfast_fence SET token = " + foreign);

            assertThatThrownBy(() -> fence.check("report", Long.MAX_VALUE))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageEndingWith("its row is 'report' of holdfast_fence");

            try (ResultSet same = statement.executeQuery("SELECT token = " + foreign + " FROM holdfast_fence")) {
                assertThat(same.getBoolean(1)).as("kept").isTrue();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "sqlite:locks.db,locks.db",
        "sqlite:/a/b.db,/a/b.db",
        "sqlite:./~/x,./~/x",
        "sqlite:~x,~x",
        "sqlite:a b%20c,a b%20c"
    })
    void thePathIsTakenAsItIs(String url, String path) {
        assertThat(SqliteStoreProvider.path(url)).isEqualTo(Path.of(path));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sqlite:",
                "sqlite:  ",
                "sqlite://locks.db",
                "sqlite:///var/locks.db",
                "sqlite::memory:",
                "sqlite:file:locks.db",
                "sqlite:locks.db?mode=ro",
                "sqlite:locks.db?mode=session",
                "sqlite:a\0b",
                "sqlite:~",
                "sqlite:~/locks.db",
                "sqlit:locks.db"
            })
    void aBadUrlIsRefusedWithAGoodOne(String url) {
        assertThatThrownBy(() -> SqliteStoreProvider.path(url))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("sqlite:")
                .hasMessageNotContaining("secret")
                .hasMessageNotContaining("\n");
    }

    @Test
    void locksOfSessionsAreRefusedWithTheReason() {
        assertThatThrownBy(() -> SqliteStoreProvider.path("sqlite:locks.db?mode=session"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("SQLite has no sessions");
    }

    @Test
    void itSaysWhatItCanDo() {
        Rig rig = new Rig(folder);
        try (SqliteStore store = rig.open()) {
            Capabilities can = store.capabilities();
            assertThat(can.modes()).containsExactlyInAnyOrder(LockMode.values());
            assertThat(can.fair() && can.ordered() && can.extendable()).isTrue();
            assertThat(can.caveats()).isNotEmpty().allMatch(caveat -> caveat.endsWith("."));
            assertThat(store.description()).isEqualTo("sqlite:" + rig.file);
        }
    }
}
