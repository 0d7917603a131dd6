package dev.holdfast.cli;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.ChildProcess;
import dev.holdfast.testbed.Ports;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.Started;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command line on Redis. */
@Tag("thorough")
@Tag("engine-in-another-class")
class RedisCommandLineTest extends CommandLineContract {
    @Started({"--appendonly", "yes"}) // one that is not warned about
    private static RedisServer server;

    @Test
    void whatAServerForgetsIsToldOnDemand(@TempDir Path folder) {
        try (RedisServer forgets = orSkip(RedisServer::start)) {
            Cli cli = new Cli(folder, forgets.uri());

            assertThat(cli.run("run", "job", "--", "true").err()).isEmpty();

            assertThat(cli.run("-v", "run", "job", "--", "true").err())
                    .singleElement()
                    .asString()
                    .contains(forgets.uri(), "keeps nothing over a restart");
        }
    }

    @Test
    void aServerThatGoesAwayIsToldInOurWordsAlone(@TempDir Path folder) {
        try (RedisServer goes = orSkip(RedisServer::start)) {
            Cli cli = new Cli(folder, goes.uri());
            ChildProcess run = cli.start("run", "--lease", "6s", "job", "--", "sleep", "600");
            try (LockClient client = cli.client()) {
                Awaitility.await()
                        .atMost(Cli.SOON)
                        .until(() -> client.lock("job").status().isHeld());
            }

            goes.process().kill();

            Cli.Ended ended = Cli.end(run);
            assertThat(ended.code()).isEqualTo(ExitCode.HOLD_LOST);
            assertThat(ended.err())
                    .isNotEmpty()
                    .allMatch(line -> line.startsWith("holdfast: "))
                    .anyMatch(line -> line.contains("'job'") && line.contains(goes.uri()));
        }
    }

    /** The outage ends the hold, and the attempts to record how the run ended. */
    @Test
    @Tag("thorough")
    void aCommandOfOnceThatWasStoppedIsReportedThoughItsEndCannotBeRecorded(@TempDir Path folder) {
        try (RedisServer goes = orSkip(RedisServer::start)) {
            Cli cli = new Cli(folder, goes.uri());
            ChildProcess run = cli.start(
                    "once", "--every", "8760h", "--lease", "6s", "job", "--", "sh", "-c", "echo up; exec sleep 600");
            run.expect("up", Cli.SOON);
            goes.process().kill();

            Cli.Ended ended = Cli.end(run);
            assertThat(ended.code()).isEqualTo(ExitCode.HOLD_LOST);
            assertThat(ended.err())
                    .last()
                    .asString()
                    .contains("was stopped; check what it left", "its end could not be recorded");
        }
    }

    @Test
    @Tag("thorough") // it waits out 20 seconds of attempts
    void aSignalEndsTheAttemptsToRecordTheEndOfARun(@TempDir Path folder) throws IOException {
        try (RedisServer goes = orSkip(RedisServer::start)) {
            Cli cli = new Cli(folder, goes.uri());
            Path go = cli.file("go");
            try (ChildProcess run = cli.start(
                    "once",
                    "--every",
                    "8760h",
                    "--lease",
                    "10m",
                    "job",
                    "--",
                    "sh",
                    "-c",
                    "echo up; while [ ! -e go ]; do sleep 0.1; done; echo over")) {
                run.expect("up", Cli.SOON);
                goes.process().kill();
                Files.createFile(go);
                run.expect("over", Cli.SOON);
                Awaitility.await().atMost(Cli.SOON).until(() -> {
                    run.terminate();
                    return !run.isAlive();
                });
                assertThat(run.waitFor(Cli.SOON)).isEqualTo(ExitCode.STORE_UNAVAILABLE);
            }
        }
    }

    @Test
    void aWaitThatEndsWhileTheServerIsAwayIsNoConflict(@TempDir Path folder) throws InterruptedException {
        try (RedisServer goes = orSkip(RedisServer::start)) {
            Cli cli = new Cli(folder, goes.uri());
            ChildProcess run;
            try (LockClient client = cli.client()) {
                Hold hold = client.lock("job").acquire();
                run = cli.start("run", "--wait", "5s", "-E", "0", "job", "--", "true");
                Awaitility.await()
                        .atMost(Cli.SOON)
                        .until(() -> client.lock("job").status().waiting() == 1);
                assertThat(hold.isValid()).isTrue();
                goes.process().kill();
            }

            Cli.Ended ended = Cli.end(run);

            assertThat(ended.code()).isEqualTo(ExitCode.STORE_UNAVAILABLE);
            assertThat(ended.err()).anyMatch(line -> line.contains("'job'") && line.contains(goes.uri()));
        }
    }

    @Test
    void whereNoNamesOfWaitersAreKeptTheirNumberIsShownAndTheLackIsSaid() throws InterruptedException {
        Cli cli = new Cli(folder, server.uri());
        try (LockClient client = cli.client();
                Hold hold = client.lock("job").acquire();
                ChildProcess first = cli.start("run", "job", "--", "true")) {
            awaitWaiters(client, 1);
            try (ChildProcess terminal = Pseudoterminal.holdfast(cli, "run", "job", "--", "true");
                    OneProcess looks = new OneProcess(cli)) {
                assertThat(terminal.expect(line -> line.contains("waiting for lock 'job'"), Cli.SOON))
                        .contains("held by ", "; about 1 other waits");
                awaitWaiters(client, 2);

                assertThat(looks.run("top").out())
                        .anyMatch(line -> line.startsWith("1 lock, 2 waiters on "))
                        .anyMatch(line -> line.contains("this store does not keep the waiters' names"));
                assertThat(looks.run("top", "--json").out())
                        .singleElement()
                        .asString()
                        .contains("\"namesWaiters\":false", "\"waiting\":2", "\"queue\":null");
                assertThat(looks.run("why", "job").out())
                        .anyMatch(line -> line.contains("waiting     2 (this store does not keep the waiters' names"));
            }
            assertThat(hold.isValid() && first.isAlive()).isTrue();
        }
    }

    private static void awaitWaiters(LockClient client, int number) {
        Awaitility.await()
                .atMost(Cli.SOON)
                .until(() -> client.lock("job").status().waiting() == number);
    }

    @Override
    protected String emptyStore(Path folder) {
        server.call("FLUSHALL");
        return server.uri();
    }

    @Override
    protected boolean plantForeignRecord(String url, String name) {
        server.call("SET", "holdfast:{" + name + "}", "another program's");
        return true;
    }

    @Override
    protected Optional<GuardedStore> guardedStore(Path folder) {
        server.call("ACL", "SETUSER", "me", "reset", "on", ">s3cret/@", "~*", "&*", "+@all");
        return Optional.of(new GuardedStore("redis://me@127.0.0.1:" + server.port(), "s3cret/@"));
    }

    @Override
    protected String unreachableStore(Path folder) {
        return "redis://me:s3cret@127.0.0.1:" + Ports.free();
    }
}
