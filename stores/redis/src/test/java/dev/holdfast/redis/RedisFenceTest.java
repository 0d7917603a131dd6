package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.HoldfastException;
import dev.holdfast.StaleTokenException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.StoreFence;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedisFenceTest {
    private Rig rig;
    private RedisClient client;
    private StatefulRedisConnection<String, String> connection;
    private RedisFence fence;

    @BeforeEach
    void connect() {
        rig = new Rig();
        client = RedisClient.create(rig.server.uri());
        connection = client.connect();
        fence = RedisFence.on(connection);
    }

    @AfterEach
    void stop() {
        client.shutdown();
        rig.close();
    }

    @Test
    void aTokenIsAdmittedUntilAHigherOneWas() {
        fence.check("a", 7);
        fence.check("a", 7);
        fence.check("a", 10);

        assertThatThrownBy(() -> fence.check("a", 9))
                .isInstanceOfSatisfying(StaleTokenException.class, stale -> {
                    assertThat(stale.token()).isEqualTo(9);
                    assertThat(stale.admitted()).isEqualTo(10);
                })
                .hasMessageContaining("'a'");
        fence.check("b", 1);
        fence.check("a", 10);
    }

    /** A master without replicas may take no writes. Each check is a write, so such a master admits no token. */
    @Test
    void aServerThatMayNotWriteAdmitsNoTokenAgain() {
        fence.check("a", 7);
        rig.call("CONFIG", "SET", "min-replicas-to-write", "1");
        assertThatThrownBy(() -> fence.check("a", 7)).isInstanceOf(HoldfastException.class);
        rig.call("CONFIG", "SET", "min-replicas-to-write", "0");
        fence.check("a", 7);
    }

    @Test
    void tokensAreDistinguishedToTheLastDigit() {
        long token = Long.MAX_VALUE - 1;
        fence.check("a", token);
        assertThatThrownBy(() -> fence.check("a", token - 1)).isInstanceOf(StaleTokenException.class);
        fence.check("a", token + 1);
        assertThatThrownBy(() -> fence.check("a", token)).isInstanceOf(StaleTokenException.class);
    }

    @Test
    void theFenceOfAUrlIsTheSame() {
        fence.check("a", 7);
        try (StoreFence ofUrl = new RedisStoreProvider().openFence(rig.server.uri(), Optional.empty())) {
            assertThatThrownBy(() -> ofUrl.check("a", 6)).isInstanceOf(StaleTokenException.class);
            ofUrl.check("a", 8);
        }
        assertThatThrownBy(() -> fence.check("a", 7)).isInstanceOf(StaleTokenException.class);
    }

    @Test
    void itRemembersOverConnectionsAndForgottenScripts() {
        fence.check("a", 7);
        rig.call("SCRIPT", "FLUSH");
        try (RedisClient another = RedisClient.create(rig.server.uri())) {
            RedisFence same = RedisFence.on(another.connect());
            assertThatThrownBy(() -> same.check("a", 6)).isInstanceOf(StaleTokenException.class);
        }
        assertThat(rig.call("PTTL", "holdfast:fence:a")).isEqualTo("-1");
    }

    @Test
    void aHoldThatWasOvertakenIsRefused() {
        RedisStore store = rig.open();
        long stale = Rig.hold(store, "a").number() * 1024;
        fence.check("a", stale);
        Rig.get(store.breakGrant("a", stale / 1024, true));
        fence.check("a", Rig.hold(store, "a").number() * 1024);

        assertThatThrownBy(() -> fence.check("a", stale)).isInstanceOf(StaleTokenException.class);
    }

    @Test
    void whatIsNoTokenIsRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> fence.check("a", -1));
        rig.call("RPUSH", "holdfast:fence:list", "x");
        assertThatThrownBy(() -> fence.check("list", 1)).isInstanceOf(StoreRefusedException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "x",
                "a longer text than any token",
                "007",
                "-1",
                "9223372036854775808",
                "99999999999999999999"
            })
    void aValueOfAnotherProgramIsRefusedAndStays(String foreign) {
        rig.call("SET", "holdfast:fence:a", foreign);

        assertThatThrownBy(() -> fence.check("a", Long.MAX_VALUE))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("holdfast:fence:");

        assertThat(rig.call("GET", "holdfast:fence:a")).isEqualTo(foreign);
    }
}
