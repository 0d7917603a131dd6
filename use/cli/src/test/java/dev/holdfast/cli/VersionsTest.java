package dev.holdfast.cli;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.testbed.ChildProcess;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.ZooKeeperServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The last release beside this checkout on a store of each family, by {@code ./dev beside}: some thirty processes on each.
 * Before a release they are beside each other on all stores, see CONTRIBUTING.md.
 */
@Tag("thorough")
@Timeout(value = 16, unit = TimeUnit.MINUTES) // longer than the test's own patience, which says more
class VersionsTest {
    private static final Path ROOT = Launcher.script().resolveSibling("");

    @TempDir
    Path folder;

    @Test
    void theLastReleaseAndThisCheckoutShareAStoreOfEachFamily() throws IOException {
        List<String> releases = Files.readAllLines(ROOT.resolve("build/dist/releases")).stream()
                .filter(line -> !line.startsWith("#"))
                .toList();
        assumeTrue(!releases.isEmpty(), "no release yet");
        String[] last = releases.get(releases.size() - 1).split(" ");
        assumeTrue(
                Cli.end(ChildProcess.command("git", "cat-file", "-e", last[1] + "^{commit}")
                                        .directory(ROOT)
                                        .start())
                                .code()
                        == 0,
                "the commit of " + last[0] + " is not in this copy");

        try (RedisServer redis = orSkip(RedisServer::start);
                PostgresServer postgres = orSkip(PostgresServer::start);
                ZooKeeperServer zooKeeper = ZooKeeperServer.start(Map.of("tickTime", "500"));
                ChildProcess beside = ChildProcess.command(
                                ROOT.resolve("dev").toString(),
                                "beside",
                                last[0],
                                "sqlite:" + folder.resolve("locks.db"),
                                redis.uri(),
                                postgres.jdbcUrl(),
                                "zk://" + zooKeeper.connectString() + "?tick=500ms")
                        .start()) {
            assertThat(beside.waitFor(Duration.ofMinutes(15)))
                    .as(beside.story())
                    .isZero();
            assertThat(beside.lines()).as("a line for each store").hasSize(4);
        }
    }
}
