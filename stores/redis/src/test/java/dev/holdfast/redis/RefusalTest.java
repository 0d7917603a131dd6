package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.HoldfastException;
import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Redacted;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.Ports;
import dev.holdfast.testbed.RespConnection;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Unsuitable servers and URLs are refused with messages that say what to do, and without secrets. */
class RefusalTest {
    private static final String ACL = Rights.onThePage();

    @AutoClose
    private Rig rig = new Rig();

    /** Now and then Lettuce reports the end of the connection instead of the refusal. */
    @RepeatedTest(29)
    @Tag("thorough")
    void aWrongPasswordManyTimes() {
        aWrongPassword();
    }

    @Test
    void aWrongPassword() {
        rig.call("CONFIG", "SET", "requirepass", "s3cret");
        assertRefused("redis://:wr0ng@" + address(), "password");
        assertRefused("redis://me:wr0ng@" + address(), "password");
        assertRefused("redis://" + address(), "log-in");
        assertThat(Rig.attempt(rig.open("redis://:s3cret@" + address()), "a")).isPresent();
    }

    @Test
    void aPasswordBesideTheUrl() {
        rig.call("CONFIG", "SET", "requirepass", "s3 cret/@");
        try (LockClient client =
                LockClient.builder("redis://" + address()).password("s3 cret/@").build()) {
            assertThat(client.lock("a").status().isHeld()).isFalse();
        }
    }

    @Test
    void aDatabaseThatIsNotThere() {
        assertRefused("redis://" + address() + "/99", "database");
        assertThat(Rig.attempt(rig.open("redis://" + address() + "/15"), "a")).isPresent();
    }

    @Test
    void tlsWhereThereIsNone() {
        assertThat(failureOf("rediss://" + address() + "?timeout=1s")).hasMessageContaining("write redis://");
    }

    @Test
    void noServerThere() {
        int port = Ports.free();
        assertThatThrownBy(() -> rig.open("redis://me:s3cret@127.0.0.1:" + port))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("redis://127.0.0.1:" + port)
                .hasMessageContaining("is it running");
        assertThatThrownBy(() -> rig.open("redis://no-such-host.invalid"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("no such host");
    }

    @Test
    void anotherKindOfServer() throws Exception {
        try (ServerSocket http = answering("HTTP/1.1 400 Bad Request\r\n\r\n")) {
            HoldfastException failure = failureOf("redis://127.0.0.1:" + http.getLocalPort() + "?timeout=2s");
            assertThat(failure.getMessage()).containsAnyOf("no Redis", "did not answer as Redis does");
        }
    }

    @Test
    void aServerThatSaysNothing() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            assertThat(failureOf("redis://127.0.0.1:" + silent.getLocalPort() + "?timeout=300ms"))
                    .isInstanceOf(StoreUnavailableException.class);
        }
    }

    @Test
    void aNodeOfACluster() {
        // The default is the port plus 10,000, where the system may have put an outgoing connection.
        restartWith("--cluster-enabled", "yes", "--cluster-port", Integer.toString(Ports.free()));
        assertRefused("redis://" + address(), "cluster");
    }

    @Test
    void aReplica() {
        try (Rig master = new Rig()) {
            rig.call("REPLICAOF", "127.0.0.1", Integer.toString(master.server.port()));
            assertRefused("redis://" + address(), "replica");
        }
    }

    @Test
    @Tag("thorough")
    void aServerThatBecameAReplica() {
        RedisStore store = rig.open();
        Rig.hold(store, "a");
        try (Rig master = new Rig()) {
            rig.call("REPLICAOF", "127.0.0.1", Integer.toString(master.server.port()));
            assertThatThrownBy(() -> Rig.attempt(store, "b"))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("replica");
        }
    }

    @Test
    void dataOfAnotherTypeOrShapeIsRefusedAndLeftAlone() {
        RedisStore store = rig.open();
        rig.call("RPUSH", "holdfast:{list}", "x");
        rig.call("SET", "holdfast:{text}", "hello");
        rig.call("SET", "holdfast:{damaged}", "1 X 0123456789abcdef0123456789abcdef");
        rig.call("SET", "holdfast:{newer}", "2 whatever comes then");

        assertThatThrownBy(() -> Rig.attempt(store, "list"))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("another type");
        assertThatThrownBy(() -> Rig.attempt(store, "text"))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("no lock");
        assertThatThrownBy(() -> Rig.attempt(store, "damaged"))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("no lock");
        assertThatThrownBy(() -> Rig.attempt(store, "newer"))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("layout 2");

        assertThat(rig.call("LRANGE", "holdfast:{list}", "0", "-1")).isEqualTo("[x]");
        assertThat(rig.call("GET", "holdfast:{text}")).isEqualTo("hello");
        assertThat(rig.call("GET", "holdfast:{newer}")).isEqualTo("2 whatever comes then");
    }

    @Test
    void oneDamagedKeyDoesNotKeepTheOthersFromBeingRenewed() {
        RedisStore store = rig.open();
        Grant whole = Rig.hold(store, "whole");
        Grant damaged = Rig.hold(store, "damaged");
        rig.call("DEL", "holdfast:{damaged}");
        rig.call("RPUSH", "holdfast:{damaged}", "x");

        var verdicts = Rig.get(store.renew(List.of(damaged, whole)));

        assertThat(verdicts.get(whole.id()).verdict()).isEqualTo(Verdict.HELD);
        assertThat(verdicts.get(damaged.id()).verdict()).isEqualTo(Verdict.LOST);
    }

    @ParameterizedTest
    @CsvSource({":q,HELD", ":h,LOST", ":w,LOST"})
    void aKeyOfAnotherTypeBesideALockDoesNotKeepTheOthersFromBeingRenewed(String suffix, Verdict its) {
        RedisStore store = rig.open();
        Grant whole = Rig.hold(store, Rig.claim("whole", Mode.SHARED));
        Grant damaged = Rig.hold(store, Rig.claim("damaged", Mode.SHARED));
        Rig.queue(rig.open(), "damaged");
        rig.call("DEL", "holdfast:{damaged}" + suffix);
        rig.call("SET", "holdfast:{damaged}" + suffix, "x");

        var verdicts = Rig.get(store.renew(List.of(damaged, whole)));

        assertThat(verdicts.get(whole.id()).verdict()).isEqualTo(Verdict.HELD);
        assertThat(verdicts.get(damaged.id()).verdict()).isEqualTo(its);
    }

    @Test
    void aMissingPrivilegeDoesNotEndAHold() {
        setUser("locks", "~holdfast:* &holdfast:* " + ACL);
        RedisStore store = rig.open("redis://locks:pw@" + address());
        Grant grant = Rig.hold(store, "a");
        rig.call("ACL", "SETUSER", "locks", "-get");

        assertThatThrownBy(() -> Rig.renew(store, grant)).isInstanceOf(StoreRefusedException.class);

        rig.call("ACL", "SETUSER", "locks", "+get");
        assertThat(Rig.renew(store, grant)).isEqualTo(Verdict.HELD);
    }

    @Test
    @Tag("thorough")
    void aMissingRightIsReportedWhenItIsNeeded() {
        setUser("locks", "~holdfast:* &holdfast:* " + ACL + " -set");
        RedisStore store = rig.open("redis://locks:pw@" + address());
        assertThatThrownBy(() -> Rig.attempt(store, "a"))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("does not let this user");

        setUser("nochannel", "~holdfast:* " + ACL);
        RedisStore noChannel = rig.open("redis://nochannel:pw@" + address());
        Rig.hold(rig.open(), "b");
        assertThatThrownBy(() ->
                        Rig.get(Asked.of(noChannel, Rig.waiting(Rig.claim("b"))).answer()))
                .isInstanceOf(StoreRefusedException.class);
    }

    @Test
    @Tag("thorough")
    void aReleaseThatMayNotNotifyTheNextStillReleases() {
        setUser("nopublish", "~holdfast:* " + ACL + " -publish");
        RedisStore noPublish = rig.open("redis://nopublish:pw@" + address());
        Grant grant = Rig.hold(noPublish, "a");
        var waits = Rig.queue(rig.open(), "a");

        assertThat(Rig.release(noPublish, grant)).isTrue();

        assertThat(Rig.granted(waits)).as("by its own poll").isNotNull();
    }

    @Test
    void aServerThatEvictsOrForgetsIsWarnedOf() {
        restartWith("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru");
        assertThat(rig.open().capabilities().caveats())
                .anyMatch(caveat -> caveat.contains("evicts") && caveat.contains("allkeys-lru"))
                .anyMatch(caveat -> caveat.contains("appendonly yes"));
        restartWith("--appendonly", "yes");
        assertThat(rig.open().capabilities().caveats())
                .noneMatch(caveat -> caveat.contains("evicts") || caveat.contains("appendonly"))
                .anyMatch(caveat -> caveat.contains("failover"));
    }

    @Test
    @Tag("thorough")
    void aServerBusyWithALongScript() {
        rig.call("CONFIG", "SET", "busy-reply-threshold", "50");
        RedisStore store = rig.open();
        Rig.hold(store, "warm-up");
        try (RespConnection other = rig.server.connect()) {
            other.send("EVAL", "while true do end", "0");
            Rig.until("the server to be busy", () -> saysBusy(store));
            rig.call("SCRIPT", "KILL");
        }
        Rig.until("the server to serve again", () -> !saysBusy(store));
    }

    private static boolean saysBusy(RedisStore store) {
        try {
            Rig.attempt(store, "a");
            return false;
        } catch (StoreUnavailableException busy) {
            assertThat(busy).hasMessageContaining("script");
            return true;
        }
    }

    private void setUser(String name, String rules) {
        String[] words = ("ACL SETUSER " + name + " reset on >pw " + rules).split(" ");
        rig.call(words);
    }

    private void restartWith(String... options) {
        rig.close();
        rig = new Rig(options);
    }

    private String address() {
        return "127.0.0.1:" + rig.server.port();
    }

    private void assertRefused(String url, String hint) {
        assertThat(failureOf(url)).isInstanceOf(StoreRefusedException.class).hasMessageContaining(hint);
    }

    /** It shows neither user nor password, nowhere in its causes. */
    private HoldfastException failureOf(String url) {
        Throwable failure = catchThrowable(() -> rig.open(url));
        assertThat(failure).isInstanceOf(HoldfastException.class);
        StringWriter all = new StringWriter();
        failure.printStackTrace(new PrintWriter(all));
        assertThat(all.toString()).doesNotContain("s3cret").doesNotContain("wr0ng");
        assertThat(Redacted.text(failure))
                .as("nothing in it resembles a secret")
                .isEqualTo(failure.getMessage());
        return (HoldfastException) failure;
    }

    private static ServerSocket answering(String text) throws IOException {
        ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        Thread thread = new Thread(() -> {
            while (!server.isClosed()) {
                try (Socket client = server.accept();
                        OutputStream out = client.getOutputStream()) {
                    client.setSoTimeout((int) Duration.ofSeconds(1).toMillis());
                    if (client.getInputStream().read() >= 0) {
                        out.write(text.getBytes(StandardCharsets.US_ASCII));
                    }
                } catch (IOException closed) {
                    // the next one, or the end
                }
            }
        });
        thread.setDaemon(true);
        thread.start();
        return server;
    }
}
