package dev.holdfast.etcd;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.testbed.EtcdServer;
import io.etcd.jetcd.Client;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Users and roles are changed while clients hold and wait. A JWT of etcd names the revision of the users for which it was made:
 * after any change of them, the servers refuse all that were given out before.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ChangedUsersTest {
    /** For as long as a busy machine needs to log in again, which costs the servers much time by intent. */
    private static final Duration LEASE = Duration.ofSeconds(20);

    /** What a hold has left when the request that renews it is sent. */
    private static final Duration LEAST = LEASE.minus(LEASE.dividedBy(100));

    private static final Duration LONG = Duration.ofSeconds(60);
    private static final HoldOptions OPTIONS = HoldOptions.defaults().lease(LEASE);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"simple", "jwt,sign-method=HS256,priv-key="})
    void aChangeOfOtherUsersEndsNoHoldAndNoWait(String tokens) throws Exception {
        Path key = Files.writeString(folder.resolve("key"), "a secret of the servers of this test");
        String option = "--auth-token=" + (tokens.endsWith("=") ? tokens + key : tokens);
        try (EtcdServer server = orSkip(() -> EtcdServer.start(option));
                Client root = withUsers(server);
                LockClient one = LockClient.connect(url(server));
                LockClient two = LockClient.connect(url(server))) {
            Hold hold = one.lock("job", OPTIONS).acquire();
            CompletableFuture<Hold> waiting = two.lock("job", OPTIONS).acquireAsync();
            await().atMost(LONG).until(() -> one.lock("job").status().waiting() == 1);

            done(root.getAuthClient().userAdd(Keys.bytes("clerk"), Keys.bytes("secret2")));

            long changed = System.nanoTime();
            await("a renewal that was sent after the change")
                    .atMost(LONG)
                    .until(() -> endOf(hold) - changed > LEAST.toNanos());
            assertThat(waiting).isNotDone();
            one.lock("other").acquire().close();
            hold.close();
            waiting.get(60, TimeUnit.SECONDS).close();
        }
    }

    @Test
    @Tag("thorough") // the wait asks again after 15 s at most
    void aPasswordThatIsChangedEndsHoldsAndWaitsWithTheRefusal() throws Exception {
        try (EtcdServer server = orSkip(EtcdServer::start);
                Client root = withUsers(server);
                LockClient one = LockClient.connect(url(server));
                LockClient two = LockClient.connect(url(server))) {
            Hold hold = one.lock("job", OPTIONS).acquire();
            CompletableFuture<Hold> waiting = two.lock("job", OPTIONS).acquireAsync();
            await().atMost(LONG).until(() -> one.lock("job").status().waiting() == 1);

            done(root.getAuthClient().userChangePassword(Keys.bytes("holder"), Keys.bytes("secret2")));

            await().atMost(LONG).until(() -> !hold.isValid());
            assertThatThrownBy(() -> waiting.get(60, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("correct user and password")
                    .hasMessageNotContaining("secret");
            assertThatThrownBy(() -> one.lock("other").tryAcquire()).isInstanceOf(StoreRefusedException.class);
            assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
        }
    }

    private static long endOf(Hold hold) {
        return System.nanoTime() + hold.remaining().toNanos();
    }

    private static String url(EtcdServer server) {
        return Etcd.url("holder:secret1@" + server.endpoint());
    }

    /** Makes root, and one that may do all under {@code /holdfast/}; a client of the former. */
    private static Client withUsers(EtcdServer server) throws Exception {
        String end = Etcd.base64("/holdfast0"); // the character after the slash
        server.ask("auth/role/add", "{\"name\":\"root\"}");
        server.ask("auth/role/add", "{\"name\":\"locks\"}");
        server.ask(
                "auth/role/grant",
                "{\"name\":\"locks\",\"perm\":{\"permType\":\"READWRITE\",\"key\":\"" + Etcd.base64("/holdfast/")
                        + "\",\"range_end\":\"" + end + "\"}}");
        for (String[] user : new String[][] {{"root", "root"}, {"holder", "locks"}}) {
            server.ask("auth/user/add", "{\"name\":\"" + user[0] + "\",\"password\":\"secret1\"}");
            server.ask("auth/user/grant", "{\"user\":\"" + user[0] + "\",\"role\":\"" + user[1] + "\"}");
        }
        server.ask("auth/enable", "{}");
        return Client.builder()
                .endpoints("http://" + server.endpoint())
                .user(Keys.bytes("root"))
                .password(Keys.bytes("secret1"))
                .build();
    }

    private static void done(CompletableFuture<?> change) throws Exception {
        Object unused = change.get(60, TimeUnit.SECONDS);
    }
}
