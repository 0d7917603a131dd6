package dev.holdfast.docs;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StaleTokenException;
import dev.holdfast.redis.RedisFence;
import dev.holdfast.testbed.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The script on the page of the Redis store, by which users fence their own writes, as it stands there. */
@Timeout(120)
class RedisFencePageTest {
    private static final Pattern SCRIPT =
            Pattern.compile("<!-- tested: RedisFencePageTest -->\n```lua\n(.*?)```", Pattern.DOTALL);
    private static final Pattern KEY = Pattern.compile("`(holdfast:fence:[^`]*7)`");
    /** Of this size, doubles are 256 apart. */
    private static final long TOKEN = 1_853_000_000_000_000_001L;

    private RedisServer server;
    private RedisClient client;
    private StatefulRedisConnection<String, String> redis;
    private String script;
    private String fence;

    @BeforeEach
    void start() throws IOException {
        String page = Files.readString(PagesTest.projectRoot().resolve(Path.of("docs", "redis-store.md")));
        script = first(SCRIPT, page);
        fence = first(KEY, page);
        server = orSkip(RedisServer::start);
        client = RedisClient.create(server.uri());
        redis = client.connect();
    }

    @AfterEach
    void stop() {
        if (server != null) {
            client.shutdown();
            server.close();
        }
    }

    @Test
    void itAdmitsRisingTokensAndRefusesOneThatIsLowerByOne() {
        write(TOKEN, "first");
        write(TOKEN, "same hold");
        write(TOKEN + 1, "next");

        assertThatThrownBy(() -> write(TOKEN, "stale"))
                .isInstanceOf(RedisCommandExecutionException.class)
                .hasMessageContaining("STALE")
                .hasMessageContaining(Long.toString(TOKEN + 1));

        assertThat(redis.sync().get("data")).isEqualTo("next");
    }

    @Test
    void aShorterTokenIsLowerWhateverItsDigits() {
        write(1_000_000_000_000_000_000L, "long");

        assertThatThrownBy(() -> write(999_999_999_999_999_999L, "short"))
                .isInstanceOf(RedisCommandExecutionException.class);
        write(Long.MAX_VALUE, "longest");
        assertThat(redis.sync().get("data")).isEqualTo("longest");
    }

    @Test
    void itKeepsOneFenceTogetherWithTheOneOfTheLibrary() {
        RedisFence library = RedisFence.on(redis);
        write(TOKEN + 1, "by the script");
        assertThatThrownBy(() -> library.check("stock:7", TOKEN)).isInstanceOf(StaleTokenException.class);

        library.check("stock:7", TOKEN + 3);
        assertThatThrownBy(() -> write(TOKEN + 2, "stale")).isInstanceOf(RedisCommandExecutionException.class);
    }

    private void write(long token, String value) {
        String[] keys = {fence, "data"};
        redis.sync().eval(script, ScriptOutputType.STATUS, keys, Long.toString(token), value);
    }

    private static String first(Pattern pattern, String page) {
        Matcher found = pattern.matcher(page);
        assertThat(found.find()).as("on the page: " + pattern).isTrue();
        return found.group(1);
    }
}
