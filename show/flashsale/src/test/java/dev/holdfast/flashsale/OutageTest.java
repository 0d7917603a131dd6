package dev.holdfast.flashsale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A store that is cut off for some seconds, and runs that a link repeats. */
@Tag("thorough")
class OutageTest extends OnTwoServers {
    @Test
    void aStoreThatIsCutOffInsideAnOrderCostsTimeAndNoTicket() throws Exception {
        sale.run(new Run("holdfast", STOCK, 5, CROWD, 100, "cut", 7));
        await().atMost(LONG).until(() -> sale.figures().struck().cut() == 1);
        awaitQuiet();

        FlashSale.Figures end = sale.figures();
        assertThat(end.struck().cut()).isEqualTo(1);
        assertThat(end.tally().sold()).isEqualTo(STOCK);
        assertThat(end.tally().collisions()).isEmpty();
        assertThat(end.buyers().answers()).doesNotContainKey("gave up");
        await().atMost(LONG).until(() -> !sale.figures().outage().on());
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "synchronized", "pessimistic", "optimistic", "query-and-occupy"})
    void aGuardThatDoesNotUseTheStoreIsNotTriedWithoutIt(String guard) {
        String refusal = "guard '" + guard + "' does not use the store that is cut off";

        assertThatThrownBy(() -> sale.run(new Run(guard, STOCK, 5, 1, 0, "cut", 1)))
                .hasMessage(refusal);
        sale.open(guard, STOCK, 5);
        assertThatThrownBy(sale::cut).hasMessage(refusal);

        assertThat(sale.figures().cuttable()).containsExactly("holdfast", "split");
    }

    @Test
    void whileTheFileIsCutOffNobodyElseWritesToIt(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("locks.db");
        write(file);
        try (Outage outage = Outage.ofFile(file)) {
            outage.begin(System.err::println);
            await().atMost(LONG).until(() -> outage.figures().times() == 1);

            assertThatThrownBy(() -> write(file)).hasMessageContaining("SQLITE_BUSY");

            await().atMost(LONG).until(() -> !outage.figures().on());
            write(file);
        }
    }

    private static void write(Path file) throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file + "?busy_timeout=0");
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE IF NOT EXISTS written (at INTEGER)");
            statement.execute("INSERT INTO written VALUES (1)");
        }
    }

    @Test
    void aServerThatIsCutOffLosesItsConnectionsAndGetsNoOthers() throws Exception {
        InetAddress here = InetAddress.getLoopbackAddress();
        try (ServerSocket store = new ServerSocket(0, 50, here);
                Outage outage = Outage.of("redis://127.0.0.1:" + store.getLocalPort());
                Socket client = new Socket(here, URI.create(outage.url()).getPort());
                Socket server = store.accept()) {
            server.getOutputStream().write(1);
            assertThat(client.getInputStream().read()).isEqualTo(1);

            outage.begin(System.err::println);
            await().atMost(LONG).until(() -> outage.figures().times() == 1);

            assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(SocketException.class);
            assertThatThrownBy(() -> new Socket(here, URI.create(outage.url()).getPort()))
                    .isInstanceOf(ConnectException.class);
        }
    }

    @Test
    void theStoreIsCutOffOnceAtATime() {
        sale.open("holdfast", STOCK, 5);
        sale.cut();

        assertThatThrownBy(sale::cut).hasMessage("the store is cut off already");
        assertThatThrownBy(() -> sale.run(new Run("none", STOCK, 5, 1, 0, "", 1)))
                .hasMessage("the store is still cut off");

        await().atMost(LONG).until(() -> !sale.figures().outage().on());
    }

    @Test
    void aRunBringsBackTheServerThatTheLastOneHasKilled() throws Exception {
        Run run = new Run("holdfast", STOCK, 5, CROWD, 0, "kill", 7);
        sale.run(run);
        awaitQuiet();
        assertThat(sale.figures().nodes().get(0).state()).isEqualTo("DOWN");

        sale.run(new Run("holdfast", STOCK, 5, CROWD, 0, "", 7));
        awaitQuiet();

        assertThat(sale.figures().nodes()).extracting(Servers.Figures::state).containsOnly("UP");
        assertThat(sale.figures().tally().sold()).isEqualTo(STOCK);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0, '', 1, buyers must be 1 to 1000",
        "1001, 0, '', 1, buyers must be 1 to 1000",
        "1, -1, '', 1, withinMillis must be 0 to 60000",
        "1, 60001, '', 1, withinMillis must be 0 to 60000",
        "1, 0, melt, 1, 'fault must be one of pause, kill, cut, or empty'",
        "1, 0, '', -1, seed must be 0 to 2147483647"
    })
    void aRunThatCannotBeIsRefused(int buyers, int within, String fault, int seed, String message) {
        assertThatThrownBy(() -> sale.run(new Run("none", STOCK, 0, buyers, within, fault, seed)))
                .isInstanceOf(Refused.class)
                .hasMessage(message);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://10.0.0.1:6379",
                "rediss://127.0.0.1:6379",
                "zk://127.0.0.1:1,127.0.0.1:2",
                "sqlite:/var/lib/ours.db"
            })
    void aStoreOfOthersIsNotCutOff(String store) {
        try (Outage outage = Outage.of(store)) {
            assertThat(outage.url()).isEqualTo(store);
            assertThat(outage.figures().possible()).isFalse();
            assertThatThrownBy(() -> outage.begin(System.err::println))
                    .hasMessage("only a store on this machine can be cut off");
        }
    }

    @Test
    void theServersConnectByTheProxyAndKeepTheRestOfTheUrl() {
        try (Outage outage = Outage.of("jdbc:postgresql://127.0.0.1:5499/shop?user=app&password=a/b@c")) {
            assertThat(outage.url())
                    .matches("jdbc:postgresql://127\\.0\\.0\\.1:\\d+/shop\\?user=app&password=a/b@c")
                    .doesNotContain("5499");
        }
    }

    @Test
    void aSceneThatDoesNotExistIsRefused() {
        assertThatThrownBy(() -> sale.scenes().play("opera", "plain"))
                .hasMessage("there is no scene 'opera' with the way 'plain'");
        assertThatThrownBy(() -> sale.scenes().play("house", "opera"))
                .hasMessage("there is no scene 'house' with the way 'opera'");
    }
}
