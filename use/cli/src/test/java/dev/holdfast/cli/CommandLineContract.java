package dev.holdfast.cli;

import static dev.holdfast.cli.Cli.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.Hold;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.ChildProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What {@code run}, {@code list}, {@code release} and {@code demo} show on any store. A store's test is a subclass that
 * says where an empty one is, and where none answers; a store on a server starts it there, before all tests.
 */
abstract class CommandLineContract {
    /**
     * Cases in which the stores do not differ: the engine's, or those that the contract of the stores proves on each. They
     * run on SQLite.
     */
    private static final String ENGINE = "engine";

    /**
     * Cases between processes, in which a store with leases and one that ends locks with sessions may differ. They run
     * on SQLite, Redis and ZooKeeper.
     */
    private static final String PROCESSES = "processes";

    /** What a holder of the default lease leaves behind at least, when it was renewed a third of it before. */
    private static final Duration LEAST_OF_THE_DEFAULT_LEASE = Duration.ofSeconds(19);

    private static final String HOLD = "echo in $HOLDFAST_TOKEN; exec sleep 600";

    @TempDir
    Path folder;

    private Cli cli;

    /** The URL of a store in which nobody holds anything. Called once for each test. */
    protected abstract String emptyStore(Path folder);

    /** The URL of a store of this kind that cannot be reached, with the user and password {@code me:s3cret} if it may. */
    protected abstract String unreachableStore(Path folder);

    /** An empty store behind a log-in; none where the store has no such thing. */
    protected Optional<GuardedStore> guardedStore(Path folder) {
        return Optional.empty();
    }

    /** A URL without the password, and the password. */
    protected record GuardedStore(String url, String password) {}

    /**
     * How long a lock outlives a client that was killed, at most, where locks end with sessions; none where they end with
     * the lease that was asked for.
     */
    protected Optional<Duration> session() {
        return Optional.empty();
    }

    /** Puts something there under the name of a lock that Holdfast would not write; false where the store lets nobody. */
    protected boolean plantForeignRecord(String url, String name) throws Exception {
        return false;
    }

    /** What messages show of a URL; other than the URL where that holds secrets. */
    protected String shown(String url) {
        return url;
    }

    /** The details that the URL leaves open and the store has found, as shown behind the URL. */
    protected String table() {
        return "";
    }

    @BeforeEach
    void anEmptyStore() {
        cli = new Cli(folder, emptyStore(folder));
    }

    // ---- run

    @Test
    void runExitsWithTheCommandsCodeAndTellsItItsNameTokenAndHold() {
        Cli.Ended ended = cli.run(
                "run",
                "Größe {42}:*",
                "--",
                "sh",
                "-c",
                "echo \"$HOLDFAST_NAME\"; echo $HOLDFAST_TOKEN; echo $HOLDFAST_HOLD_ID; exit 7");

        assertThat(ended.code()).isEqualTo(7);
        assertThat(ended.err()).isEmpty();
        assertThat(ended.out()).hasSize(3).first().isEqualTo("Größe {42}:*");
        assertThat(Long.parseLong(ended.out().get(1))).isPositive();
        assertThat(ended.out().get(2)).matches("[0-9a-f]{32}");
    }

    @Test
    @Tag("thorough")
    @Tag(ENGINE)
    void tokensRiseFromRunToRun() {
        long last = 0;
        for (int i = 0; i < 3; i++) {
            long token = Long.parseLong(cli.run("run", "job", "--", "sh", "-c", "echo $HOLDFAST_TOKEN")
                    .out()
                    .get(0));
            assertThat(token).isGreaterThan(last);
            last = token;
        }
    }

    @Test
    @Tag(ENGINE)
    void aBusyLockIsTriedOnceOrForAWhileAndItsHolderIsNamed() {
        try (Holder holder = holder("30s")) {
            Cli.Ended once = cli.run("run", "--wait", "0", "job", "--", "echo", "in");
            assertThat(once.code()).isEqualTo(ExitCode.NOT_ACQUIRED);
            assertThat(once.out()).isEmpty();
            assertThat(once.err())
                    .singleElement()
                    .asString()
                    .contains(
                            "'job'",
                            shown(cli.store()),
                            "held by",
                            ":" + holder.process().pid(),
                            "(sh -c echo in",
                            "--wait");

            Cli.Ended patient = cli.run("run", "--wait", "300ms", "-E", "3", "job", "--", "true");
            assertThat(patient.code()).isEqualTo(3);
            assertThat(patient.err()).singleElement().asString().contains("within 300ms");
        }
    }

    @Test
    @Tag(PROCESSES)
    void aWaiterIsNextWhenTheHolderEndsAndASignalFreesAtOnce() {
        try (Holder holder = holder("30s");
                ChildProcess waiter = cli.start("run", "job", "--", "sh", "-c", "echo in $HOLDFAST_TOKEN")) {
            awaitWaiters(1);
            holder.process().terminate();

            assertThat(holder.process().waitFor(SOON)).isEqualTo(143);
            assertThat(tokenOf(waiter)).isGreaterThan(holder.token());
            assertThat(waiter.waitFor(SOON)).isZero();
        }
        assertFree();
    }

    @Test
    @Tag("thorough")
    @Tag(ENGINE)
    void aSignalEndsTheWaitAndLeavesNothingBehind() {
        try (Holder holder = holder("30s")) {
            ChildProcess waiter = cli.start("run", "job", "--", "echo", "in");
            awaitWaiters(1);
            waiter.terminate();

            Cli.Ended ended = Cli.end(waiter);
            assertThat(ended.code()).isEqualTo(143);
            assertThat(ended.out()).isEmpty();
            awaitWaiters(0);
            assertThat(holder.process().isAlive()).isTrue();
        }
    }

    /** Long before the default lease would have ended. How long exactly the next one waits, the stores' tests ask. */
    @Test
    @Tag("thorough")
    @Tag(PROCESSES)
    void whenAHolderIsKilledTheLeaseThatWasAskedForEndsItsLock() {
        try (Holder holder = holder("8s"); // it must keep its hold while the waiter starts
                ChildProcess waiter = cli.start("run", "job", "--", "sh", "-c", "echo in $HOLDFAST_TOKEN")) {
            awaitWaiters(1);
            long killed = System.nanoTime();
            ProcessHandle.of(holder.process().pid()).stream()
                    .flatMap(ProcessHandle::children)
                    .forEach(ProcessHandle::destroyForcibly);
            holder.process().kill();

            assertThat(tokenOf(waiter)).isGreaterThan(holder.token());
            assertThat(Duration.ofNanos(System.nanoTime() - killed)).isLessThan(LEAST_OF_THE_DEFAULT_LEASE);
        }
    }

    @Test
    @Tag("thorough")
    @Tag(ENGINE)
    void aHoldIsRenewedWhileTheCommandRuns() {
        try (Holder holder = holder("9s")) {
            assertThat(cli.run("run", "--wait", "12s", "job", "--", "true").code())
                    .isEqualTo(ExitCode.NOT_ACQUIRED);
            assertThat(holder.process().isAlive()).isTrue();
        }
    }

    @Test
    @Tag("thorough")
    @Tag(ENGINE)
    void readersRunBesideEachOtherAndAWriterWaitsForThem() {
        try (Holder first = holding("--shared", "job");
                Holder second = holding("--shared", "job");
                ChildProcess writer = cli.start("run", "job", "--", "sh", "-c", "echo in $HOLDFAST_TOKEN")) {
            awaitWaiters(1);
            assertThat(cli.run("list").out()).last().asString().matches("job +shared .* 1");
            assertThat(cli.run("run", "--shared", "--wait", "0", "job", "--", "true")
                            .code())
                    .as("a reader behind the writer")
                    .isEqualTo(ExitCode.NOT_ACQUIRED);

            first.process().terminate();
            assertThat(first.process().waitFor(SOON)).isEqualTo(143);
            awaitWaiters(1);
            assertThat(writer.lines()).as("the writer, beside a reader").isEmpty();

            second.process().terminate();
            assertThat(tokenOf(writer)).isGreaterThan(Math.max(first.token(), second.token()));
            assertThat(writer.waitFor(SOON)).isZero();
        }
        assertFree();
    }

    @Test
    @Tag(ENGINE)
    @Tag("thorough")
    void noMorePermitsAreOutThanThereAre() {
        try (Holder one = holding("--permits", "1/3", "job");
                Holder two = holding("--permits", "2/3", "job")) {
            Cli.Ended refused = cli.run("run", "--permits", "1/3", "--wait", "0", "job", "--", "echo", "in");
            assertThat(refused.code()).isEqualTo(ExitCode.NOT_ACQUIRED);
            assertThat(refused.out()).isEmpty();
            assertThat(refused.err()).singleElement().asString().contains("1 of 3 permits of 'job'", "held by");
            assertThat(cli.run("list").out()).last().asString().matches("job +permits .*");

            try (ChildProcess next =
                    cli.start("run", "--permits=2/3", "job", "--", "sh", "-c", "echo in $HOLDFAST_TOKEN")) {
                awaitWaiters(1);
                one.process().terminate();
                assertThat(one.process().waitFor(SOON)).isEqualTo(143);
                awaitWaiters(1);
                assertThat(next.lines()).as("who wants two where one is free").isEmpty();

                two.process().terminate();
                assertThat(tokenOf(next)).isGreaterThan(Math.max(one.token(), two.token()));
                assertThat(next.waitFor(SOON)).isZero();
            }
        }
        assertFree();
    }

    @Test
    @Tag("thorough")
    @Tag(ENGINE)
    void severalNamesAreHeldTogetherOrNotAtAll() {
        try (ChildProcess both = cli.start("run", "two words", "job", "--", "sh", "-c", "echo in; exec sleep 600")) {
            both.expect("in", SOON);
            assertThat(tried("job")).isEqualTo(ExitCode.NOT_ACQUIRED);
            assertThat(tried("two words")).isEqualTo(ExitCode.NOT_ACQUIRED);
            assertThat(tried("else")).isZero();

            Cli.Ended refused = cli.run("run", "--wait", "200ms", "else", "job", "--", "echo", "in");
            assertThat(refused.code()).isEqualTo(ExitCode.NOT_ACQUIRED);
            assertThat(refused.out()).isEmpty();
            assertThat(refused.err())
                    .singleElement()
                    .asString()
                    .contains("locks 'else', 'job' on " + shown(cli.store()), "'job' is held by ");
            assertThat(tried("else")).as("what was held meanwhile is free").isZero();
            both.terminate();
            assertThat(both.waitFor(SOON)).isEqualTo(143);
        }
        assertThat(tried("job", "two words", "else")).isZero();
    }

    private int tried(String... names) {
        String[] command = Stream.of(Stream.of("run", "--wait", "0"), Stream.of(names), Stream.of("--", "true"))
                .flatMap(words -> words)
                .toArray(String[]::new);
        return cli.run(command).code();
    }

    @Test
    void aStoreOutOfReachIsExplainedInOneLineWithoutSecrets() {
        String url = unreachableStore(folder);
        try (OneProcess process = new OneProcess(cli)) {
            Cli.Ended ended = process.run("--store", url, "run", "job", "--", "echo", "in");

            assertThat(ended.code()).isEqualTo(ExitCode.STORE_UNAVAILABLE);
            assertThat(ended.out()).isEmpty();
            assertThat(ended.err())
                    .singleElement()
                    .asString()
                    .startsWith("holdfast: ")
                    .doesNotContain("s3cret");
            assertThat(process.run("-v", "--store", url, "list").err()).noneMatch(line -> line.contains("s3cret"));
        }
    }

    @Test
    @Tag("thorough")
    void aPasswordMayStandInTheEnvironmentAndAStoreWithoutLogInsHasNoUseForIt() {
        GuardedStore guarded = guardedStore(folder).orElse(new GuardedStore(cli.store(), "s3cret-of-nobody"));
        Cli.Ended ended = Cli.end(cli.jvm("run", "job", "--", "env")
                .environment("HOLDFAST_STORE", guarded.url())
                .environment("HOLDFAST_PASSWORD", guarded.password())
                .start());

        assertThat(ended.code()).as(ended.toString()).isZero();
        assertThat(ended.out()).contains("HOLDFAST_NAME=job").noneMatch(line -> line.contains(guarded.password()));
    }

    // ---- list

    @Test
    void listShowsWhoHoldsWhatInAnAlignedTable() throws InterruptedException {
        try (LockClient client =
                        LockClient.builder(cli.store()).label("nightly").build();
                Hold order = client.lock("order:42").acquire();
                Hold report = client.lock("the long report").acquire()) {
            Cli.Ended ended = cli.run("list");

            assertThat(ended.code()).isZero();
            assertThat(ended.err())
                    .isEqualTo(
                            table().isEmpty()
                                    ? List.of()
                                    : List.of("holdfast: these locks are on " + shown(cli.store()) + table()));
            assertThat(ended.out()).hasSize(3);
            assertThat(ended.out().get(0)).matches("NAME +MODE +TOKEN +HOLDER +HELD FOR +LEASE LEFT +WAITING");
            assertThat(ended.out().get(1))
                    .matches("order:42 +exclusive +" + order.token() + " +\\S+:" + pid() + " \\(nightly\\) +[\\w ]+ +"
                            + (session().isPresent() ? "\\d" : "\\d\\d") + "s +0");
            assertThat(ended.out().get(2)).contains("the long report  exclusive", Long.toString(report.token()));
            assertThat(ended.out())
                    .extracting(String::length)
                    .containsOnly(ended.out().get(0).length());
        }
    }

    @Test
    @Tag(ENGINE)
    void listShowsTheDocumentedJson() throws InterruptedException {
        String name = "a \"quoted\" \\ größe";
        try (LockClient client =
                        LockClient.builder(cli.store()).label("nightly").build();
                Hold hold = client.lock(name).acquire()) {
            Cli.Ended ended = cli.run("list", "--json");

            assertThat(ended.code()).isZero();
            assertThat(ended.out())
                    .singleElement()
                    .asString()
                    .matches(
                            "\\[\\{\"name\":\"a \\\\\"quoted\\\\\" \\\\\\\\ gr\\\\u00f6\\\\u00dfe\",\"mode\":\"exclusive\",\"token\":"
                                    + hold.token() + ",\"holder\":\\{\"host\":\"[^\"]+\",\"pid\":" + pid()
                                    + ",\"label\":\"nightly\"},\"heldMillis\":\\d+,\"leaseLeftMillis\":\\d+,\"waiting\":0}]");
        }
    }

    @Test
    @Tag("thorough")
    @Tag(ENGINE)
    void listShowsOnlyWhatMatchesThePatternWholeNamesWithTheirNamespace() throws InterruptedException {
        try (OneProcess process = new OneProcess(cli);
                LockClient shop =
                        LockClient.builder(cli.store()).namespace("shop").build();
                LockClient client = cli.client();
                Hold order = shop.lock("order:42").acquire();
                Hold brackets = client.lock("report[1]").acquire()) {
            assertThat(order.isValid() && brackets.isValid()).isTrue();
            assertListed(process, "shop:*", "shop:order:42");
            assertListed(process, "*:42", "shop:order:42");
            assertListed(process, "shop:order:4?", "shop:order:42");
            assertListed(process, "rep?rt[1]", "report[1]");
            for (String nothing : new String[] {"order:*", "report", "report?", "report[0-9]", "SHOP:*"}) {
                Cli.Ended none = process.run("list", nothing);
                assertThat(none.code()).isZero();
                assertThat(none.out()).isEmpty();
                assertThat(none.err()).singleElement().asString().contains("'" + nothing + "'", shown(cli.store()));
            }
        }
    }

    private static void assertListed(OneProcess process, String pattern, String name) {
        assertThat(process.run("list", pattern).out())
                .as(pattern)
                .hasSize(2)
                .last()
                .asString()
                .startsWith(name + "  ");
    }

    @Test
    @Tag("thorough")
    @Tag(ENGINE)
    void listCountsWhoWaits() {
        try (Holder holder = holder("30s");
                ChildProcess waiter = cli.start("run", "job", "--", "true")) {
            awaitWaiters(1);

            assertThat(cli.run("list").out()).last().asString().matches("job .*" + holder.token() + ".* 1");
            assertThat(waiter.isAlive()).isTrue();
        }
    }

    @Test
    void oneForeignRecordHidesNoOtherLock() throws Exception {
        try (LockClient client = cli.client()) { // a hold before it
            client.lock("foreign").acquire().close();
        }
        try (LockClient client = cli.client();
                Hold foreign = client.lock("foreign").acquire()) {
            assertThat(foreign.isValid()).isTrue();
            assumeTrue(plantForeignRecord(cli.store(), "foreign"), "this store takes no foreign record");
            try (OneProcess lists = new OneProcess(cli);
                    Hold job = client.lock("job").acquire()) {
                Cli.Ended table = lists.run("list");
                assertThat(table.code()).as(table.toString()).isZero();
                assertThat(table.out())
                        .hasSize(3)
                        .anyMatch(line -> line.matches("foreign .*unknown:0.*"))
                        .anyMatch(line -> line.contains(Long.toString(job.token() / 1024 * 1024)));
                assertThat(lists.run("list", "--json").out())
                        .singleElement()
                        .asString()
                        .contains("\"name\":\"foreign\"", "\"name\":\"job\"");
            }
            assertThat(cli.run("run", "--wait", "0", "foreign", "--", "true").code())
                    .as("a command for it")
                    .isNotEqualTo(ExitCode.INTERNAL);
        } catch (HoldfastException lost) {
            assertThat(lost).as("the holder's own end").hasMessageContaining("foreign");
        }
    }

    @Test
    @Tag("thorough")
    @Tag(ENGINE)
    void listSaysThatNothingIsHeld() {
        Cli.Ended table = cli.run("list");
        assertThat(table.code()).isZero();
        assertThat(table.out()).isEmpty();
        assertThat(table.err()).singleElement().asString().contains("no lock is held", shown(cli.store()) + table());

        assertThat(cli.run("list", "--json").out()).containsExactly("[]");
    }

    // ---- release

    @Test
    @Tag(ENGINE)
    void releaseSaysThatThereIsNothingToBreak() {
        Cli.Ended ended = cli.run("release", "--yes", "job");

        assertThat(ended.code()).isEqualTo(ExitCode.NOTHING_BROKEN);
        assertThat(ended.out()).isEmpty();
        assertThat(ended.err()).singleElement().asString().contains("'job'", shown(cli.store()), "is not held");
    }

    @Test
    @Tag(PROCESSES)
    @Tag("thorough")
    void releaseEndsTheHoldersCommandAndLetsTheNextOneInOnlyAfterTheLease() {
        // a third of it until the holder hears, and the rest is enough for it to end on a busy machine
        try (Holder holder = holder("12s");
                ChildProcess waiter = cli.start("run", "job", "--", "sh", "-c", "echo in $HOLDFAST_TOKEN")) {
            awaitWaiters(1);
            long before = System.nanoTime();
            Cli.Ended broken = cli.run("release", "--yes", "job");
            assertThat(broken.code()).isZero();
            assertThat(broken.err())
                    .singleElement()
                    .asString()
                    .contains(
                            "broke lock 'job'",
                            shown(cli.store()),
                            "held by",
                            "(sh -c echo in",
                            "when the lease expires");

            assertThat(holder.process().waitFor(SOON)).isEqualTo(ExitCode.HOLD_LOST);
            assertThat(holder.process().stderr().lines()).last().asString().contains("lost", "'job'", "was stopped");
            assertThat(tokenOf(waiter)).isGreaterThan(holder.token());
            if (!isSessionBound()) { // else the holder's end is the session's, and lets the next one in
                assertThat(Duration.ofNanos(System.nanoTime() - before))
                        .as("until the next one is in: the lease, less the third after which it is renewed")
                        .isGreaterThan(Duration.ofSeconds(7));
            }
        }
    }

    @Test
    @Tag("thorough")
    @Tag(PROCESSES)
    void releaseNowLetsTheNextOneInAtOnceAndSaysWhatThatRisks() {
        try (Holder holder = holder("168h")) {
            Cli.Ended broken = cli.run("release", "--now", "--yes", "job");
            assertThat(broken.code()).isZero();
            assertThat(broken.err())
                    .singleElement()
                    .asString()
                    .contains("immediately", "only resources that check tokens are safe");

            Cli.Ended next = cli.run("run", "--wait", "0", "job", "--", "sh", "-c", "echo $HOLDFAST_TOKEN");
            assertThat(Long.parseLong(next.out().get(0))).isGreaterThan(holder.token());
            if (session().isEmpty()) {
                assertThat(holder.process().isAlive())
                        .as("the holder, until its next renewal")
                        .isTrue();
            } else {
                assertThat(holder.process().waitFor(SOON)).isEqualTo(ExitCode.HOLD_LOST);
            }
        }
    }

    private boolean isSessionBound() {
        try (LockClient client = cli.client()) {
            return client.capabilities().sessionBound();
        }
    }

    // ---- demo

    @Test
    @Tag(ENGINE)
    @Tag("thorough")
    void demoSellsExactlyTheStockUnderTheLock() {
        Cli.Ended ended = cli.run("demo", "--json", "--processes", "2", "--buyers", "2", "--tickets", "60");

        assertThat(ended.code()).as(ended.toString()).isZero();
        assertThat(ended.out())
                .singleElement()
                .asString()
                .contains("\"lock\":\"holdfast\",\"sold\":60,\"oversold\":0")
                .doesNotContain("s3cret");
    }

    /** A process that holds the lock. */
    private record Holder(ChildProcess process, long token) implements AutoCloseable {
        @Override
        public void close() {
            process.close();
        }
    }

    private Holder holder(String lease) {
        return holding("--lease", lease, "job");
    }

    /** A run with these options and names, once it holds what it wants. */
    private Holder holding(String... wanted) {
        ChildProcess process =
                cli.start(Stream.of(Stream.of("run"), Stream.of(wanted), Stream.of("--", "sh", "-c", HOLD))
                        .flatMap(words -> words)
                        .toArray(String[]::new));
        return new Holder(process, tokenOf(process));
    }

    private static long tokenOf(ChildProcess run) {
        return Long.parseLong(run.expect("in ", SOON).substring("in ".length()));
    }

    private void awaitWaiters(int number) {
        try (LockClient client = cli.client()) {
            await().atMost(SOON).until(() -> client.lock("job").status().waiting() == number);
        }
    }

    private void assertFree() {
        try (LockClient client = cli.client()) {
            assertThat(client.lock("job").status().isHeld()).isFalse();
        }
    }

    private static long pid() {
        return ProcessHandle.current().pid();
    }
}
