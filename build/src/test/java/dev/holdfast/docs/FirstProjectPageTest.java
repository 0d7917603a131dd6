package dev.holdfast.docs;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import dev.holdfast.testbed.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The program of the page for a first project, in two processes on a real server. */
@Timeout(180)
class FirstProjectPageTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String HOLDING = "holding, token ";
    private static final Pattern REFUSED = Pattern.compile("^(StaleTokenException|HoldLostException): ");

    @TempDir
    private Path folder;

    private RedisServer server;
    private ChildProcess one;
    private ChildProcess other;

    @BeforeEach
    void start() {
        server = orSkip(RedisServer::start);
        one = worker();
        other = worker();
    }

    @AfterEach
    void stop() {
        if (server != null) {
            one.close();
            other.close();
            server.close();
        }
    }

    @Test
    void theTwoProcessesTakeTurnsAndOneThatWasStoppedIsNotifiedAndRefused() {
        one.expect("holding", PATIENCE);
        other.expect("holding", PATIENCE);
        long stopped = stopTheOneWhileItHolds();

        other.expect(line -> token(line) > stopped, PATIENCE);
        other.expect("holding", PATIENCE); // its turn before is written
        one.cont();

        Set<String> heard = new HashSet<>(); // on two threads: either may be first
        one.expect(
                line -> {
                    if (line.startsWith("notified: ")) {
                        heard.add("the loss");
                    } else if (REFUSED.matcher(line).find()) {
                        heard.add("the refusal");
                    }
                    return heard.size() == 2;
                },
                PATIENCE);
        one.expect("holding", PATIENCE);
    }

    @Test
    void thePomOfThePageNamesTheArtifactsThatTheProgramNeeds() throws IOException {
        String page = Files.readString(PagesTest.projectRoot().resolve("docs/quick-start.md"));
        assertThat(page)
                .contains("<artifactId>holdfast-redis</artifactId>")
                .contains("<artifactId>holdfast-jdbc</artifactId>")
                .contains("<artifactId>holdfast-sqlite</artifactId>")
                .contains("<maven.compiler.source>17</maven.compiler.source>")
                .contains("<maven.compiler.target>17</maven.compiler.target>");
    }

    /** It works for a second of each turn, and may be between two turns when the signal arrives: then it goes on. */
    private long stopTheOneWhileItHolds() {
        try (LockClient client = LockClient.connect(server.uri())) {
            while (true) {
                one.expect("holding", PATIENCE);
                one.stop();
                Optional<LockStatus.Held> held =
                        client.lock("order:42").status().grant();
                if (held.isPresent() && held.get().holder().pid() == one.pid()) {
                    return held.get().token();
                }
                one.cont();
            }
        }
    }

    private static long token(String line) {
        return line.startsWith(HOLDING) ? Long.parseLong(line.substring(HOLDING.length())) : 0;
    }

    private ChildProcess worker() {
        return ChildJvm.main(Worker.class)
                .args(server.uri(), "jdbc:sqlite:" + folder.resolve("shop.db"))
                .start();
    }
}
