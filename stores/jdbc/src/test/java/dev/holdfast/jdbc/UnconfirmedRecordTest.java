package dev.holdfast.jdbc;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.LockClient;
import dev.holdfast.Once;
import dev.holdfast.OnceOptions;
import dev.holdfast.OnceRun.State;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.testbed.LocalServer;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.PostgresServer;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A record that the server has, and no standby: the wait for one was cancelled after the commit. */
@Tag("thorough")
@Timeout(180)
class UnconfirmedRecordTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    @ParameterizedTest
    @EnumSource
    void doesNotCountForTheWorkThatHasEnded(Kind kind) throws Exception {
        try (LocalServer server = kind.start();
                LockClient client = LockClient.connect(kind.url(server))) {
            assertThat(client.once("job before").run(turn -> {}).ran()).isTrue();
            Once job = client.once("job", OnceOptions.defaults().lease(Duration.ofSeconds(5)));

            assertThatThrownBy(() -> job.run(turn -> kind.standby(server, false)))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("its end could not be recorded");

            kind.standby(server, true);
            assertThat(job.last().orElseThrow().state()).isEqualTo(State.DONE);
        }
    }

    /** Of which database: one whose commits wait for a standby that is not there, from a moment on. */
    enum Kind {
        POSTGRES {
            @Override
            LocalServer start() {
                return orSkip(() -> PostgresServer.start());
            }

            @Override
            String url(LocalServer server) {
                return ((PostgresServer) server).jdbcUrl();
            }

            @Override
            void standby(LocalServer server, boolean there) throws SQLException {
                String name = there ? "" : "gone";
                Sql.run(
                        url(server),
                        "ALTER SYSTEM SET synchronous_standby_names = '" + name + "'",
                        "SELECT pg_reload_conf()");
                await().atMost(SOON)
                        .until(() -> Sql.text(url(server), "SHOW synchronous_standby_names")
                                .equals(name));
            }
        },
        MARIADB {
            @Override
            LocalServer start() {
                return orSkip(() -> MariaDbServer.start(
                        "--server-id=1", "--log-bin=changes", "--rpl-semi-sync-master-timeout=600000"));
            }

            @Override
            String url(LocalServer server) {
                return ((MariaDbServer) server).jdbcUrl();
            }

            @Override
            void standby(LocalServer server, boolean there) throws SQLException {
                Sql.run(url(server), "SET GLOBAL rpl_semi_sync_master_enabled = " + (there ? "OFF" : "ON"));
            }
        };

        abstract LocalServer start();

        abstract String url(LocalServer server);

        /** Whether commits need no standby any more. */
        abstract void standby(LocalServer server, boolean there) throws SQLException;
    }
}
