package dev.holdfast.cli;

import static dev.holdfast.cli.Cli.SOON;
import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.ChildProcess;
import dev.holdfast.testbed.RedisServer;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code holdfast top} and {@code holdfast list --watch}, on the script. */
class TopTest extends OnOwnStore {
    private static final String ALTERNATE_SCREEN = "\u001b[?1049h";
    private static final String BACK = "\u001b[?1049l";
    private static final String NO_WRAPPED_LINES = "\u001b[?7l";
    private static final String WRAPPED_LINES = "\u001b[?7h";

    @Test
    @Tag("thorough")
    void whatMostWaitForComesFirstWithItsQueue() throws InterruptedException {
        try (LockClient client =
                        LockClient.builder(cli.store()).label("nightly").build();
                Hold idle = client.lock("idle").acquire();
                Hold wanted = client.lock("wanted").acquire();
                ChildProcess first = cli.start("run", "wanted", "--", "true")) {
            awaitWaiters(client, "wanted", 1);
            try (ChildProcess second = cli.start("run", "wanted", "--", "true")) {
                awaitWaiters(client, "wanted", 2);
                Cli.Ended ended = script("top");

                assertThat(ended.code()).isZero();
                assertThat(ended.err()).isEmpty();
                assertThat(ended.out().get(0)).matches("2 locks, 2 waiters on .*; read in .*");
                assertThat(ended.out().get(2)).matches("NAME +HOLDER +HELD FOR +LEASE LEFT +TOKEN +WAITING");
                assertThat(ended.out().get(3)).matches("wanted +.*/main \\(nightly\\) .* " + wanted.token() + " +2");
                assertThat(ended.out().get(4)).matches("  1\\. .*:" + first.pid() + "/main \\(true.*\\).*");
                assertThat(ended.out().get(5)).matches("  2\\. .*:" + second.pid() + "/main \\(true.*\\).*");
                assertThat(ended.out().get(6)).matches("idle +.* " + idle.token() + " +0");

                assertThat(script("top", "--json", "wan*").out())
                        .singleElement()
                        .asString()
                        .contains("\"namesWaiters\":true", "\"name\":\"wanted\"", "\"queue\":[{", "\"waitedMillis\":")
                        .doesNotContain("\"name\":\"idle\"");
            }
        }
    }

    @Test
    @Tag("thorough")
    void aCircleOfWaitingIsNamed() {
        try (ChildProcess one = nested("a", "b");
                ChildProcess other = nested("b", "a");
                LockClient client = cli.client()) {
            one.expect("first", SOON);
            other.expect("first", SOON);
            one.send("go");
            other.send("go");
            awaitWaiters(client, "a", 1);
            awaitWaiters(client, "b", 1);

            assertThat(script("top").out())
                    .anyMatch(line ->
                            line.matches("CIRCLE OF WAITING: 'a' is held by .*, which waits for 'b'; 'b' is held"
                                    + " by .*, which waits for 'a'"));
            assertThat(script("top", "--json").out())
                    .singleElement()
                    .asString()
                    .contains("\"circles\":[[\"a\",\"b\"]]");
            assertThat(script("why", "b").out())
                    .anyMatch(line -> line.contains("CIRCLE OF WAITING"))
                    .anyMatch(line -> line.contains("no process in the circle can continue"));
        }
    }

    /** A command under one lock that calls holdfast for another, when it is told to. */
    private ChildProcess nested(String outer, String inner) {
        return cli.shell(
                        "sh",
                        "-c",
                        "exec \"$HOLDFAST\" run " + outer + " -- sh -c 'echo first; read go; \"$HOLDFAST\" run " + inner
                                + " -- true'")
                .start();
    }

    @Test
    void threadsOfOneProcessThatWaitInACircleAreSeen() throws InterruptedException {
        try (LockClient client = cli.client();
                LockClient other = cli.client()) {
            Thread one = inCircle(client, "a", "b");
            Thread two = inCircle(other, "b", "a");
            awaitWaiters(client, "a", 1);
            awaitWaiters(client, "b", 1);

            assertThat(script("top", "--json").out())
                    .singleElement()
                    .asString()
                    .contains("\"circles\":[[\"a\",\"b\"]]");
            one.interrupt();
            two.interrupt();
            one.join();
            two.join();
        }
    }

    private static Thread inCircle(LockClient client, String first, String second) {
        Thread thread = new Thread(
                () -> {
                    try (Hold held = client.lock(first).acquire()) {
                        await().atMost(SOON)
                                .until(() -> client.lock(second).status().isHeld());
                        client.lock(second).acquire().close();
                        held.remaining();
                    } catch (InterruptedException e) {
                        // the end
                    }
                },
                first + "-" + second);
        thread.start();
        return thread;
    }

    @Test
    @Tag("thorough")
    void grantsEndsAndBreaksAreRemembered() throws InterruptedException {
        try (LockClient client = cli.client()) {
            Hold before = client.lock("old").acquire();
            try (ChildProcess top = cli.script("top", "--json", "--every", "100ms", "--count", "100000")
                    .start()) {
                top.expect("{\"store\":", SOON);
                before.close();
                top.expect(line -> line.contains("\"what\":\"ended\",\"name\":\"old\""), SOON);
                Hold hold = client.lock("new").acquire();
                top.expect(line -> line.contains("\"what\":\"granted\",\"name\":\"new\""), SOON);
                assertThat(hold.isValid()).isTrue();
            }
        }
    }

    @Test
    @Tag("thorough")
    void aHoldBeyondItsUsualLengthIsMarked() throws InterruptedException {
        try (LockClient client = cli.client();
                ChildProcess top = cli.script("top", "--json", "--every", "100ms", "--count", "100000")
                        .start()) {
            for (int i = 0; i < 3; i++) {
                Hold hold = client.lock("job").acquire();
                top.expect(
                        line -> line.contains("\"token\":" + hold.token()) && line.contains("\"beyondUsual\":false"),
                        SOON);
                hold.close();
                top.expect(line -> line.contains("\"locks\":[]"), SOON);
            }
            Hold hung = client.lock("job").acquire();
            top.expect(
                    line -> line.contains("\"token\":" + hung.token()) && line.contains("\"beyondUsual\":true"), SOON);
        }
    }

    @Test
    void aTerminalIsDrawnOverAndGivenBack() throws InterruptedException {
        try (LockClient client = cli.client();
                Hold hold = client.lock("job").acquire()) {
            ChildProcess terminal = Pseudoterminal.start(cli, "TERM=xterm exec \"$HOLDFAST\" top --every 100ms");
            terminal.expect(line -> line.contains(Long.toString(hold.token())), SOON);
            hold.close();
            terminal.expect(line -> line.contains("ended"), SOON);
            terminal.type(Pseudoterminal.CTRL_C);

            Cli.Ended ended = Cli.end(terminal);
            assertThat(ended.code()).isEqualTo(130);
            assertThat(String.join("\n", ended.out()))
                    .contains(ALTERNATE_SCREEN + "\u001b[?25l" + NO_WRAPPED_LINES)
                    .contains(WRAPPED_LINES + "\u001b[?25h" + BACK);
        }
    }

    @Test
    @Tag("thorough")
    void controlZRestoresTheTerminalUntilItGoesOn() throws InterruptedException {
        try (LockClient client = cli.client();
                Hold hold = client.lock("job").acquire()) {
            ChildProcess shell = Pseudoterminal.shell(cli);
            shell.send("TERM=xterm \"$HOLDFAST\" top --every 100ms");
            for (int stop = 0; stop < 2; stop++) {
                shell.expect(line -> line.contains(ALTERNATE_SCREEN), SOON);
                shell.expect(line -> line.contains(Long.toString(hold.token())), SOON);
                shell.type(Pseudoterminal.CTRL_Z);
                shell.expect(line -> line.contains(BACK), SOON);
                shell.expect(line -> line.contains("Stopped"), SOON);
                shell.send("fg");
            }
            shell.expect(line -> line.contains(ALTERNATE_SCREEN), SOON);
            shell.type(Pseudoterminal.CTRL_C);
            shell.send("exit 0");

            assertThat(Cli.end(shell).code()).isZero();
        }
    }

    @Test
    void aFileThatIsNotThereIsNotMade() {
        Cli.Ended ended = script("--store", "sqlite:" + cli.file("none.db"), "top");

        assertThat(ended.code()).isZero();
        assertThat(ended.err()).singleElement().asString().contains("no lock is held");
        assertThat(cli.file("none.db")).doesNotExist();
    }

    @Test
    @Tag("thorough")
    void theJsonOfAFileThatIsNotThereHasNoLocks() {
        Cli.Ended ended = script("--store", "sqlite:" + cli.file("none.db"), "top", "--json");

        assertThat(ended.code()).isZero();
        assertThat(ended.out()).singleElement().asString().contains("\"locks\":[],\"circles\":[],\"events\":[]");
        assertThat(cli.file("none.db")).doesNotExist();
    }

    @Test
    @Tag("thorough")
    void watchListsAgainAndAgain() throws InterruptedException {
        try (LockClient client = cli.client();
                ChildProcess watch = cli.script("list", "--watch", "--json", "--every", "100ms")
                        .start()) {
            watch.expect("[]", SOON);
            Hold hold = client.lock("job").acquire();
            watch.expect(line -> line.contains("\"token\":" + hold.token()), SOON);
            hold.close();
            watch.expect("[]", SOON);
            watch.terminate();
            assertThat(watch.waitFor(SOON)).isEqualTo(143);
        }
    }

    @Test
    void watchEndsWhenNobodyReads() {
        Cli.Ended ended =
                Cli.end(cli.shell("sh", "-c", "\"$HOLDFAST\" list --watch --every 100ms --json | head -n 2; echo over")
                        .start());

        assertThat(ended.out()).containsExactly("[]", "[]", "over");
    }

    @Test
    @Tag("thorough")
    void aStoreIsNotAskedWithoutPause() {
        try (OneProcess process = new OneProcess(cli)) {
            for (String command : List.of("top", "list")) {
                for (String every : List.of("0", "99ms", "0.05")) {
                    Cli.Ended ended = process.run(command, "--every", every);

                    assertThat(ended.code()).as(every).isEqualTo(ExitCode.USAGE);
                    assertThat(ended.err()).singleElement().asString().contains("--every", "100ms");
                }
            }
        }
    }

    /** {@code list --watch} draws in the same way. */
    @Test
    @Tag("thorough")
    void anOutageIsShownAndTheNextReadTriesAgain() {
        try (RedisServer server = orSkip(() -> RedisServer.start())) {
            Cli redis = new Cli(folder, server.uri());
            try (ChildProcess terminal =
                    Pseudoterminal.start(redis, "TERM=xterm exec \"$HOLDFAST\" top --every 100ms")) {
                terminal.expect(TopTest::saysThatNothingIsHeld, SOON);
                server.process().kill();
                terminal.expect(line -> line.contains(server.uri()) && !saysThatNothingIsHeld(line), SOON);
                server.process().restart();
                terminal.expect(TopTest::saysThatNothingIsHeld, SOON);
            }
        }
    }

    private static boolean saysThatNothingIsHeld(String line) {
        return line.contains("0 locks, 0 waiters on ");
    }

    private static void awaitWaiters(LockClient client, String name, int number) {
        await().atMost(SOON).until(() -> client.lock(name).status().waiting() == number);
    }

    private Cli.Ended script(String... args) {
        return Cli.end(cli.script(args).start());
    }
}
