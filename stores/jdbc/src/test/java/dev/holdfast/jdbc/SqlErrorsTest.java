package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

/** What the codes of a server mean where two kinds of failure share one. */
class SqlErrorsTest {
    private static final ServerUrl URL =
            ServerUrl.parse("jdbc:mariadb://127.0.0.1:3306/app").orElseThrow();

    private final SqlErrors errors = new SqlErrors(URL.dialect(), URL.description(), "holdfast_lock");

    @Test
    void aServerThatIsFullHasNotRefusedThePassword() {
        assertThat(explained("Too many connections", 1040))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("accepts no more connections");
    }

    @Test
    void theSameStateWithoutThatCodeIsARefusedPassword() {
        assertThat(explained("Access denied", 1045))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("password");
        assertThat(explained("The server requested password-based authentication", 0))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("password");
    }

    private HoldfastException explained(String message, int code) {
        return errors.explain("acquire", "order", new SQLException(message, "08004", code));
    }
}
