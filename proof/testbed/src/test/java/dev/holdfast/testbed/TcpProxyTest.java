package dev.holdfast.testbed;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the proxy does to bytes and connections as such; how real requests fare is told by {@link TcpProxyRedisTest}. */
class TcpProxyTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    private EchoServer server;
    private TcpProxy proxy;

    @BeforeEach
    void start() throws IOException {
        server = new EchoServer();
        proxy = TcpProxy.to(server.port());
    }

    @AfterEach
    void stop() throws IOException {
        proxy.close();
        server.close();
    }

    @Test
    void manyBytesPassUnchangedInBothDirectionsAndAreCounted() throws Exception {
        byte[] sent = new byte[5_000_000];
        new Random(42).nextBytes(sent);
        try (Socket client = connect()) {
            Thread writer = new Thread(() -> send(client, sent));
            writer.start();
            assertThat(client.getInputStream().readNBytes(sent.length)).isEqualTo(sent);
            writer.join();
        }
        Traffic all = new Traffic(sent.length, sent.length, 0, 0);
        assertThat(proxy.toServer().traffic()).isEqualTo(all);
        assertThat(proxy.toClient().traffic()).isEqualTo(all);
    }

    @Test
    @Tag("thorough")
    void theProxyKeepsSixteenMebibytesAndThenTheSenderWaits() throws Exception {
        byte[] sent = new byte[30_000_000];
        new Random(7).nextBytes(sent);
        int most = 16 << 20;
        proxy.toServer().hold();
        try (Socket client = connect()) {
            Thread writer = new Thread(() -> send(client, sent));
            writer.start();
            await().during(Duration.ofMillis(100))
                    .atMost(SOON)
                    .until(() -> proxy.toServer().traffic().kept(), kept -> kept >= most && kept <= most + 65_536);
            proxy.toServer().resume();
            assertThat(client.getInputStream().readNBytes(sent.length)).isEqualTo(sent);
            writer.join();
        }
    }

    @Test
    void aFaultSetAgainMustBiteAgain() throws Exception {
        try (Socket client = connect()) {
            proxy.toServer().hold();
            send(client, "held".getBytes(UTF_8));
            proxy.toServer().awaitBite(SOON);
            proxy.toServer().resume();
            proxy.toServer().hold();
            assertThatThrownBy(() -> proxy.toServer().awaitBite(Duration.ofMillis(5)))
                    .isInstanceOf(AssertionError.class);
            proxy.toServer().delay(Duration.ofMillis(1));
            proxy.toServer().resume();
            send(client, "late".getBytes(UTF_8));
            proxy.toServer().awaitBite(SOON);
        }
    }

    @Test
    void theEndOfOneDirectionIsPassedOnAndTheOtherGoesOn() throws Exception {
        try (Socket client = connect()) {
            send(client, "last words".getBytes(UTF_8));
            client.shutdownOutput();
            assertThat(client.getInputStream().readAllBytes()).isEqualTo("last words".getBytes(UTF_8));
        }
        assertThat(ending().orderly()).isTrue();
        await().atMost(SOON).until(() -> proxy.connections().open() == 0);
        assertThat(proxy.connections()).isEqualTo(new Connections(1, 0, 0));
    }

    @Test
    void aConnectionThatItsClientHasEndedIsNotCountedAmongThoseOfClientsAlthoughTheServerKeepsIt() throws Exception {
        proxy.toClient().hold(); // as if the server did not end it
        try (Socket client = connect()) {
            send(client, "last words".getBytes(UTF_8));
            await().atMost(SOON).until(() -> proxy.keptByClients() == 1);
        }
        await().atMost(SOON).until(() -> proxy.keptByClients() == 0);
        assertThat(proxy.connections().open()).isEqualTo(1);
    }

    @Test
    void aResetOfTheClientReachesTheServerAsAReset() throws Exception {
        try (Socket client = connect()) {
            echo(client, "hello");
            client.setSoLinger(true, 0);
        }
        assertThat(ending().orderly()).isFalse();
        assertThat(proxy.connections().cut()).isZero();
    }

    @Test
    void aDelayKeepsTheOrderAndIsLatencyNotARateLimit() throws Exception {
        Duration delay = Duration.ofMillis(150);
        proxy.toServer().delay(delay);
        try (Socket client = connect()) {
            long start = System.nanoTime();
            int chunks = 50;
            StringBuilder sent = new StringBuilder();
            for (int i = 0; i < chunks; i++) {
                sent.append("chunk ").append(i).append('\n');
                send(client, ("chunk " + i + "\n").getBytes(UTF_8));
                // Read by the proxy before the next is sent: chunks of their own, each with its own delay.
                await().atMost(SOON)
                        .pollInterval(Duration.ofMillis(1))
                        .until(() -> proxy.toServer().traffic().read() == sent.length());
            }
            long lastSent = System.nanoTime();
            assertThat(client.getInputStream().readNBytes(sent.length()))
                    .asString(UTF_8)
                    .isEqualTo(sent.toString());
            long end = System.nanoTime();
            assertThat(end - start).isGreaterThanOrEqualTo(delay.toNanos());
            // Were they delayed one after the other it would take fifty delays.
            assertThat(end - lastSent).isLessThan(delay.multipliedBy(chunks / 2).toNanos());
            proxy.toServer().awaitBite(SOON);
        }
    }

    @Test
    void aDelayOfAQuarterOfAMillisecondIsNotRoundedUpToAWholeOne() throws Exception {
        Duration delay = Duration.ofNanos(250_000);
        proxy.toServer().delay(delay);
        proxy.toClient().delay(delay);
        try (Socket client = connect()) {
            long shortest = Long.MAX_VALUE;
            for (int i = 0; i < 200; i++) {
                long start = System.nanoTime();
                echo(client, "hello");
                shortest = Math.min(shortest, System.nanoTime() - start);
            }
            assertThat(Duration.ofNanos(shortest)).isBetween(delay.multipliedBy(2), delay.multipliedBy(7));
        }
    }

    @Test
    void aShorterDelayDoesNotOvertakeALongerOne() throws Exception {
        proxy.toServer().delay(Duration.ofMillis(200));
        try (Socket client = connect()) {
            send(client, "first ".getBytes(UTF_8));
            await().atMost(SOON).until(() -> proxy.toServer().traffic().read() == 6);
            proxy.toServer().delay(Duration.ZERO);
            send(client, "second".getBytes(UTF_8));
            assertThat(client.getInputStream().readNBytes(12)).asString(UTF_8).isEqualTo("first second");
        }
    }

    @Test
    void heldBytesWaitInTheProxyUntilResumed() throws Exception {
        try (Socket client = connect()) {
            echo(client, "before");
            proxy.toServer().hold();
            send(client, "held".getBytes(UTF_8));
            proxy.toServer().awaitBite(SOON);
            await().atMost(SOON).until(() -> proxy.toServer().traffic().kept() == 4);
            assertNothingComes(client);
            proxy.toServer().resume();
            assertThat(client.getInputStream().readNBytes(4)).asString(UTF_8).isEqualTo("held");
            assertThat(proxy.toServer().traffic()).isEqualTo(new Traffic(10, 10, 0, 0));
        }
    }

    @Test
    void heldBytesAndTheEndBehindThemArriveThoughTheirSenderIsGone() throws Exception {
        proxy.toServer().hold();
        try (Socket client = connect()) {
            send(client, "last words".getBytes(UTF_8));
        }
        proxy.toServer().awaitBite(SOON);
        assertThat(server.endings()).isEmpty();
        proxy.toServer().resume();
        EchoServer.Ending ending = ending();
        assertThat(ending.received()).isEqualTo("last words");
    }

    @Test
    void heldBytesAreLostWithTheConnectionThatIsCut() throws Exception {
        proxy.toServer().hold();
        try (Socket client = connect()) {
            send(client, "lost".getBytes(UTF_8));
            proxy.toServer().awaitBite(SOON);
            assertThat(proxy.cut()).isEqualTo(1);
            assertThat(proxy.toServer().traffic()).isEqualTo(new Traffic(4, 0, 4, 0));
            proxy.toServer().resume();
            assertReset(client);
        }
        assertThat(ending().received()).isEmpty();
    }

    @Test
    void swallowedBytesAreGoneAndTheConnectionStaysOpen() throws Exception {
        try (Socket client = connect()) {
            echo(client, "before");
            proxy.toServer().swallow();
            send(client, "gone".getBytes(UTF_8));
            proxy.toServer().awaitBite(SOON);
            assertNothingComes(client);
            assertThat(proxy.toServer().traffic()).isEqualTo(new Traffic(10, 6, 4, 0));
            assertThat(proxy.connections()).isEqualTo(new Connections(1, 1, 0));
        }
    }

    @Test
    void aConnectionThatLostBytesIsCutWhenTheyPassAgainAndTheOthersGoOn() throws Exception {
        try (Socket loser = connect();
                Socket quiet = connect()) {
            echo(loser, "hello");
            echo(quiet, "hello");
            proxy.toServer().swallow();
            send(loser, "gone".getBytes(UTF_8));
            proxy.toServer().awaitBite(SOON);
            proxy.toServer().resume();
            assertReset(loser);
            echo(quiet, "still here");
            assertThat(proxy.connections()).isEqualTo(new Connections(2, 1, 1));
        }
    }

    @Test
    void whatIsHeldCanBeSwallowed() throws Exception {
        try (Socket client = connect()) {
            proxy.toServer().hold();
            send(client, "held".getBytes(UTF_8));
            proxy.toServer().awaitBite(SOON);
            proxy.toServer().swallow();
            assertThat(proxy.toServer().traffic()).isEqualTo(new Traffic(4, 0, 4, 0));
        }
    }

    @Test
    void theEndOfAConnectionIsSwallowedToo() throws Exception {
        try (Socket first = connect();
                Socket second = connect()) {
            echo(first, "first");
            echo(second, "second");
            proxy.toServer().swallow();
            first.shutdownOutput();
            // When this byte, sent after that end, has been swallowed, the end has been as well.
            send(second, "x".getBytes(UTF_8));
            proxy.toServer().awaitBite(SOON);
            assertThat(server.endings()).isEmpty();
            assertThat(proxy.connections().open()).isEqualTo(2);
            proxy.heal();
            assertThat(ending().orderly()).isFalse();
            assertThat(ending().orderly()).isFalse();
        }
    }

    @Test
    void aCutResetsBothSidesOfAllConnectionsAndNewOnesWork() throws Exception {
        try (Socket first = connect();
                Socket second = connect()) {
            echo(first, "one");
            echo(second, "two");
            assertThat(proxy.cut()).isEqualTo(2);
            assertReset(first);
            assertReset(second);
            assertThat(ending().orderly()).isFalse();
            assertThat(ending().orderly()).isFalse();
            assertThat(proxy.cut()).isZero();
            assertThat(proxy.connections()).isEqualTo(new Connections(2, 0, 2));
        }
        try (Socket client = connect()) {
            echo(client, "three");
        }
    }

    @Test
    void aConnectionJustMadeIsCutToo() throws Exception {
        for (int i = 0; i < 50; i++) {
            try (Socket client = connect()) {
                assertThat(proxy.cut()).isEqualTo(1);
                assertReset(client);
            }
        }
    }

    @Test
    void whileItRefusesNobodyListensAndPresentConnectionsGoOn() throws Exception {
        try (Socket present = connect()) {
            echo(present, "hello");
            proxy.refuse();
            proxy.refuse();
            assertThatThrownBy(this::connect).isInstanceOf(ConnectException.class);
            echo(present, "still here");
            proxy.accept();
            proxy.accept();
            try (Socket client = connect()) {
                echo(client, "back again");
            }
        }
    }

    @Test
    void whileItRefusesItsPortIsGivenToNobodyElse() {
        assertThat(Ports.canBind(proxy.port())).isFalse();
        proxy.refuse();
        assertThat(Ports.canBind(proxy.port())).isFalse();
        proxy.close();
        assertThat(Ports.canBind(proxy.port())).isTrue();
    }

    @Test
    void aClientOfAServerThatIsNotThereIsReset() {
        try (TcpProxy toNobody = TcpProxy.to(Ports.free())) {
            // The reset may come before the client has so much as noticed that it is connected.
            assertThatThrownBy(() -> {
                        try (Socket client = connect(toNobody)) {
                            client.getInputStream().read();
                        }
                    })
                    .isInstanceOf(SocketException.class)
                    .hasMessageContaining("reset");
            await().atMost(SOON).until(() -> toNobody.connections().open() == 0);
            assertThat(toNobody.connections().accepted()).isEqualTo(1);
        }
    }

    @Test
    void aCloggedConnectionKeepsItsRepliesWhileOthersPass() throws Exception {
        assertThat(proxy.clog(0)).isEmpty();
        try (Socket first = connect();
                Socket second = connect()) {
            echo(first, "one");
            echo(second, "two");
            Clog clog = proxy.clog(0).orElseThrow();
            assertThat(clog.hasBitten()).isFalse();
            send(first, "kept".getBytes(UTF_8));
            await().atMost(SOON).until(clog::hasBitten);
            echo(second, "passes");
            assertNothingComes(first);
            clog.free();
            assertThat(first.getInputStream().readNBytes(4)).isEqualTo("kept".getBytes(UTF_8));

            proxy.clog(1);
            proxy.heal();
            echo(second, "healed");
        }
    }

    @Test
    void healEndsAllFaults() throws Exception {
        proxy.refuse();
        proxy.toServer().hold();
        proxy.toClient().delay(Duration.ofHours(1));
        ReplyDrop drop = proxy.dropNextReply(ChunkMatcher.any());
        proxy.heal();
        try (Socket client = connect()) {
            echo(client, "well");
        }
        assertThat(drop.hasBitten()).isFalse();
    }

    @Test
    void aDroppedReplyIsLostOnlyAfterItsRequestReachedTheServer() throws Exception {
        ReplyDrop drop = proxy.dropNextReply(ChunkMatcher.containing("write"));
        try (Socket client = connect();
                Socket other = connect()) {
            echo(client, "read");
            send(client, "write".getBytes(UTF_8));
            drop.awaitBite(SOON);
            assertReset(client);
            EchoServer.Ending ending = ending();
            assertThat(ending.received()).isEqualTo("readwrite");
            assertThat(ending.orderly()).isTrue();
            assertThat(proxy.toClient().traffic()).isEqualTo(new Traffic(9, 4, 5, 0));
            echo(other, "write again");
            assertThat(proxy.connections()).isEqualTo(new Connections(2, 1, 1));
        }
    }

    @Test
    void aReplyCanBeChosenAmongThoseThatFollowTheRequest() throws Exception {
        ReplyDrop drop = proxy.dropNextReply(ChunkMatcher.containing("write"), ChunkMatcher.containing("second"));
        try (Socket client = connect()) {
            echo(client, "write");
            echo(client, "first");
            send(client, "second".getBytes(UTF_8));
            drop.awaitBite(SOON);
            assertReset(client);
        }
    }

    @Test
    void faultsThatDidNotBiteSaySo() throws Exception {
        ReplyDrop drop = proxy.dropNextReply(ChunkMatcher.containing("write"));
        proxy.toClient().hold();
        Duration briefly = Duration.ofMillis(5);
        assertThatThrownBy(() -> drop.awaitBite(briefly))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("AWAITING_REQUEST");
        assertThatThrownBy(() -> proxy.toClient().awaitBite(briefly))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("HOLD")
                .hasMessageContaining("did not bite");
        proxy.toClient().resume();
        drop.cancel();
        try (Socket client = connect()) {
            echo(client, "write");
        }
        assertThat(drop.hasBitten()).isFalse();
    }

    @Test
    void aBrokenMatcherIsToldAndTheProxyGoesOn() throws Exception {
        ReplyDrop drop = proxy.dropNextReply(chunk -> {
            throw new IllegalStateException("broken matcher");
        });
        try (Socket client = connect()) {
            echo(client, "hello");
        }
        assertThatThrownBy(() -> drop.awaitBite(Duration.ZERO))
                .isInstanceOf(AssertionError.class)
                .hasRootCauseMessage("broken matcher");
    }

    @Test
    void aClosedProxyLeavesNoThreadSocketOrConnection() throws Exception {
        Residue.Watch watch = Residue.watch().threads("testbed-proxy");
        if (Residue.canWatchOpenFiles()) {
            watch.openFiles();
        }
        Residue residue = watch.begin();
        TcpProxy another = TcpProxy.to("localhost", proxy.port());
        Socket client = new Socket();
        client.connect(Loopback.port(another.port()));
        client.setSoTimeout(20_000);
        another.toServer().delay(Duration.ofMillis(1));
        echo(client, "through two proxies");
        another.refuse();
        another.close();
        another.close();
        assertReset(client);
        client.close();
        residue.assertNothingLeft(SOON);
        assertThatThrownBy(another::cut).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> another.toClient().hold()).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void onlyServersOnThisMachineAreServed() {
        assertThatThrownBy(() -> TcpProxy.to("192.0.2.1", 80)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> proxy.toServer().delay(Duration.ofMillis(-1)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private Socket connect() throws IOException {
        return connect(proxy);
    }

    private static Socket connect(TcpProxy proxy) throws IOException {
        Socket socket = new Socket();
        try {
            socket.connect(Loopback.port(proxy.port()), 20_000);
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(20_000);
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    private static void send(Socket client, byte[] bytes) {
        try {
            client.getOutputStream().write(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void echo(Socket client, String text) throws IOException {
        send(client, text.getBytes(UTF_8));
        assertThat(client.getInputStream().readNBytes(text.length()))
                .asString(UTF_8)
                .isEqualTo(text);
    }

    private static void assertNothingComes(Socket client) throws IOException {
        client.setSoTimeout(30);
        assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);
        client.setSoTimeout(20_000);
    }

    private static void assertReset(Socket client) {
        assertThatThrownBy(() -> client.getInputStream().read())
                .isInstanceOf(IOException.class)
                .isNotInstanceOf(SocketTimeoutException.class);
    }

    private EchoServer.Ending ending() throws InterruptedException {
        EchoServer.Ending ending = server.endings().poll(SOON.toNanos(), TimeUnit.NANOSECONDS);
        assertThat(ending).as("the server saw a connection end").isNotNull();
        return ending;
    }
}
