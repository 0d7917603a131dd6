package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.KitTime;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What every server must stand: its tables, its defaults, its failures. Each test begins without a table. */
abstract class ServerCases {
    static final Duration SOON = Duration.ofSeconds(20);

    /** The server, with a user who may do anything. */
    protected abstract String url();

    /** Appends a parameter to a URL. */
    protected String with(String url, String parameter) {
        return url + (url.indexOf('?') < 0 ? "?" : "&") + parameter;
    }

    protected abstract String dialect();

    /** What to select as many numbers from, in a column {@code n}. */
    protected abstract String numbers(int most);

    /** An expression that makes text a name. */
    protected String named(String text) {
        return text;
    }

    final void sql(String... statements) {
        try {
            Sql.run(url(), statements);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    final String ask(String query) {
        try (Connection connection = DriverManager.getConnection(url());
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            return rows.next() ? rows.getString(1) : "";
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    static void assertRefused(String url, String words) {
        assertThatThrownBy(() -> {
                    try (LockClient client = LockClient.connect(url)) {
                        client.lock("x").tryAcquire();
                    }
                })
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining(words)
                .hasMessageNotContaining("s3cret")
                .hasMessageNotContaining("\n");
    }

    final void dropTable() {
        sql("DROP TABLE IF EXISTS holdfast_lock");
    }

    @Test
    void aTablePreparedByTheScriptIsAllAClientNeedsThatMayNotCreateOne() throws InterruptedException {
        dropTable();
        String url = with(url(), "holdfast.createTable=false");
        assertThatThrownBy(() -> LockClient.connect(url))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("holdfast schema " + dialect());

        sql(JdbcSchema.script(dialect()).split(";\\s*\\n"));

        try (LockClient client = LockClient.connect(url);
                Hold hold = client.lock("order:42").acquire()) {
            assertThat(hold.isValid()).isTrue();
        }
    }

    @Test
    @Tag("thorough")
    void anotherTableKeepsOtherLocks() throws InterruptedException {
        sql("DROP TABLE IF EXISTS other_locks");
        try (LockClient here = LockClient.connect(url());
                LockClient there = LockClient.connect(with(url(), "holdfast.table=other_locks"));
                Hold hold = here.lock("x").acquire()) {
            assertThat(here.lock("x").tryAcquire()).isEmpty();
            there.lock("x").tryAcquire().orElseThrow().close();
            assertThat(hold.isValid()).isTrue();
        }
        assertThat(ask("SELECT count(*) FROM other_locks")).isEqualTo("2");
    }

    @Test
    void aTableInAnotherSchemaIsMadeAndUsedThere() throws InterruptedException {
        sql("CREATE SCHEMA IF NOT EXISTS elsewhere", "DROP TABLE IF EXISTS elsewhere.holdfast_lock");
        try (LockClient here = LockClient.connect(url());
                LockClient there = LockClient.connect(with(url(), "holdfast.schema=elsewhere"));
                Hold hold = there.lock("x").acquire()) {
            here.lock("x").tryAcquire().orElseThrow().close();
            assertThat(there.lock("x").tryAcquire()).isEmpty();
            assertThat(hold.isValid()).isTrue();
        }
        assertThat(ask("SELECT count(*) FROM elsewhere.holdfast_lock")).isEqualTo("2");
    }

    @Test
    void aTableOfAnotherShapeIsRefused() {
        dropTable();
        sql("CREATE TABLE holdfast_lock (name VARCHAR(20), layout INT)");
        assertThatThrownBy(() -> LockClient.connect(url()))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("another shape")
                .hasMessageContaining("holdfast schema " + dialect());
        dropTable();
    }

    @Test
    void aNewerLayoutIsRefusedOfTheTableAndOfARow() throws InterruptedException {
        dropTable();
        try (LockClient client = LockClient.connect(url())) {
            client.lock("newer", HoldOptions.defaults().awaitRelease(true))
                    .acquire()
                    .close();
            sql("UPDATE holdfast_lock SET layout = 2 WHERE host <> ''");
            assertThatThrownBy(() -> client.lock("newer").tryAcquire())
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("layout 2");
        }
        sql("UPDATE holdfast_lock SET layout = 2");
        assertThatThrownBy(() -> LockClient.connect(url()))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("layout 2");
        dropTable();
    }

    @Test
    void clientsThatCreateTheTableAtTheSameTimeAllGetIt() throws Exception {
        for (int round = 0; round < 5; round++) {
            dropTable();
            List<CompletableFuture<Boolean>> opened = together(6, i -> {
                try (LockClient client = LockClient.connect(url())) {
                    client.lock("x").acquire().close();
                    return true;
                }
            });
            assertThat(opened).allMatch(CompletableFuture::join);
        }
    }

    @Test
    @Tag("thorough")
    void ofFirstInsertsAtTheSameTimeOneWinsAndNobodyFails() throws Exception {
        List<LockClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < 6; i++) {
                clients.add(LockClient.connect(url()));
            }
            for (int round = 0; round < 30; round++) {
                String name = "first-" + dialect() + round + System.nanoTime();
                List<CompletableFuture<Boolean>> tries =
                        together(6, i -> clients.get(i).lock(name).tryAcquire().isPresent());
                assertThat(tries.stream().filter(CompletableFuture::join)).hasSize(1);
            }
        } finally {
            clients.forEach(LockClient::close);
        }
    }

    @Test
    @Tag("thorough")
    void clientsOfShortLivesRemoveIdleRowsTogether() throws InterruptedException {
        dropTable();
        LockClient.connect(url()).close();
        for (int i = 0; i < 30; i++) {
            sql("INSERT INTO holdfast_lock VALUES ('idle " + i + "', 1, 1, NULL, 0, 0, 0, '', '', '', 0, '', 'idle')");
        }
        sql("UPDATE holdfast_lock SET expires_at = 0"); // nobody has removed any for long

        for (int lives = 0; lives < 30 && !ask(IDLE_ROWS).equals("0"); lives++) {
            try (LockClient brief = LockClient.connect(url())) {
                brief.lock("used").acquire().close();
            }
        }

        assertThat(ask(IDLE_ROWS)).isEqualTo("0");
        assertThat(ask("SELECT count(*) FROM holdfast_lock")).isEqualTo("2");
    }

    private static final String IDLE_ROWS = "SELECT count(*) FROM holdfast_lock WHERE label = 'idle'";

    @Test
    @Tag("thorough")
    void aClientThatOnlyLooksRemovesNoIdleRows() {
        dropTable();
        LockClient.connect(url()).close();
        sql("INSERT INTO holdfast_lock VALUES ('idle', 1, 1, NULL, 0, 0, 0, '', '', '', 0, '', 'idle')");
        sql("UPDATE holdfast_lock SET expires_at = 0");

        try (LockClient looking = LockClient.connect(url())) {
            assertThat(looking.list("*")).isEmpty();
        }

        assertThat(ask(IDLE_ROWS)).isEqualTo("1");
    }

    @Test
    @Tag("thorough")
    void clientsOfShortLivesComeToIdleRowsBehindManyThatAreInUse() throws InterruptedException {
        dropTable();
        LockClient.connect(url()).close();
        fill("in use ", "9000000000000000");
        sql("INSERT INTO holdfast_lock VALUES ('z idle', 1, 1, NULL, 0, 0, 0, '', '', '', 0, '', 'idle')");

        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(90); // each life looks through rows for a while
        while (System.nanoTime() - end < 0 && !ask(IDLE_ROWS).equals("0")) {
            sql("UPDATE holdfast_lock SET expires_at = 0 WHERE name = " + named("''"));
            try (LockClient brief = LockClient.connect(url())) {
                brief.lock("used").acquire().close();
            }
        }

        assertThat(ask(IDLE_ROWS)).isEqualTo("0");
        assertThat(ask("SELECT label FROM holdfast_lock WHERE name = " + named("''")))
                .isEmpty();
        dropTable();
    }

    @Test
    @Tag("thorough")
    void renewalsPassAListOfAHundredThousandNames() {
        dropTable();
        try (Store store = new JdbcStoreProvider()
                .open(with(url(), "holdfast.connections=1"), new StoreContext(new NoWallClock()))) {
            Grant kept = Requests.get(Asked.of(store, Requests.claim("kept")).answer())
                    .orElseThrow();
            fill("held ", "1");

            CompletableFuture<List<LockStatus>> listed = store.list("held ").toCompletableFuture();
            int renewals = 0;
            while (!listed.isDone()) {
                assertThat(Requests.get(store.renew(List.of(kept)))
                                .get(kept.id())
                                .verdict())
                        .isEqualTo(Renewal.Verdict.HELD);
                renewals++;
            }

            assertThat(Requests.get(listed)).hasSize(MANY).isSortedAccordingTo(Comparator.comparing(LockStatus::name));
            assertThat(renewals).isGreaterThan(20);
        }
        dropTable();
    }

    private static final int MANY = 100_000;

    /** So many rows that are held for long. */
    private void fill(String prefix, String version) {
        sql("INSERT INTO holdfast_lock SELECT " + named("concat('" + prefix + "', n)") + ", 1, " + version
                + ", 'claim', 1, 1, 9000000000000000, '', '', 'host', 0, '', '' FROM " + numbers(MANY));
    }

    @Test
    @Tag("thorough")
    void aThousandReadersAreAllRenewed() throws Exception {
        int clients = 8;
        List<Store> stores = new ArrayList<>();
        try {
            for (int i = 0; i < clients; i++) {
                stores.add(store());
            }
            String name = "read by many " + System.nanoTime();
            List<CompletableFuture<List<Grant>>> granted =
                    together(clients, i -> readers(stores.get(i), name, 1_000 / clients));
            List<CompletableFuture<Boolean>> renewed = together(clients, i -> {
                List<Grant> mine = granted.get(i).join();
                return stores.get(i).renew(mine).toCompletableFuture().get(60, TimeUnit.SECONDS).values().stream()
                        .allMatch(renewal -> renewal.verdict() == Renewal.Verdict.HELD);
            });

            assertThat(renewed).allMatch(CompletableFuture::join);
            assertThat(Requests.get(
                            Asked.of(stores.get(0), Requests.claim(name)).answer()))
                    .isEmpty();
        } finally {
            stores.forEach(Store::close);
        }
    }

    private static List<Grant> readers(Store store, String name, int number) {
        List<Grant> grants = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            Claim claim = Requests.lease(Requests.mode(Requests.claim(name), Mode.SHARED), Duration.ofMinutes(10));
            Optional<Grant> grant = Optional.empty();
            while (grant.isEmpty()) {
                try {
                    grant = Requests.get(Asked.of(store, claim).answer());
                } catch (StoreUnavailableException e) {
                    assertThat(e).hasMessageContaining("its row changed"); // too many at once: told, and tried again
                }
            }
            grants.add(grant.get());
        }
        return grants;
    }

    @Test
    @Tag("thorough")
    void contentionLosesNoTurnAndLeavesNoErrorBehind() throws Exception {
        AtomicInteger[] inside = new AtomicInteger[4];
        for (int i = 0; i < inside.length; i++) {
            inside[i] = new AtomicInteger();
        }
        AtomicInteger overlaps = new AtomicInteger();
        together(8, i -> {
                    try (LockClient client = LockClient.connect(url())) {
                        for (int turn = 0; turn < 40; turn++) {
                            int which = (i + turn) % inside.length;
                            try (Hold hold = client.lock("contended:" + which).acquire()) {
                                overlaps.addAndGet(inside[which].incrementAndGet() - 1);
                                linger();
                                inside[which].decrementAndGet();
                            }
                        }
                        return true;
                    }
                })
                .forEach(CompletableFuture::join);
        assertThat(overlaps).hasValue(0);
        assertThat(errorsInLog()).isEmpty();
    }

    /** Stays inside long enough that others come to run: somebody who should not be in would be seen. */
    static void linger() {
        long end = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(200);
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /** Lines of the server's log that tell of deadlocks, duplicate keys or failures to serialize. */
    protected List<String> errorsInLog() {
        return List.of();
    }

    @Test
    void aHoldSurvivesTheEndOfItsConnectionsAndAWaiterDoesToo() throws Exception {
        HoldOptions options = HoldOptions.defaults().lease(Duration.ofSeconds(9));
        try (LockClient one = LockClient.connect(url());
                LockClient two = LockClient.connect(url())) {
            Hold hold = one.lock("killed", options).acquire();
            CompletableFuture<Hold> waiting = two.lock("killed", options).acquireAsync();
            await().atMost(SOON).until(() -> one.lock("killed").status().waiting() == 1);

            endConnections();

            long end = endOf(hold);
            await().atMost(SOON)
                    .until(() -> hold.isValid() && endOf(hold) - end > TimeUnit.SECONDS.toNanos(1)); // it was renewed
            assertThat(waiting).isNotDone();
            hold.close();
            waiting.get(20, TimeUnit.SECONDS).close();
        }
    }

    private static long endOf(Hold hold) {
        return System.nanoTime() + hold.remaining().toNanos();
    }

    /** Ends all connections but the one that does it. */
    protected abstract void endConnections();

    @Test
    void namesAndPeopleOfAnyCharacterReachNoStatement() throws InterruptedException {
        try (LockClient client = LockClient.builder(url())
                .label("'; DROP TABLE holdfast_lock; -- ,;%")
                .build()) {
            for (String name : List.of("'", "\"", "%", "_", "a'; DROP TABLE holdfast_lock; --", "\\", "🔒")) {
                try (Hold hold = client.lock(name).acquire()) {
                    assertThat(client.lock(name)
                                    .status()
                                    .grant()
                                    .orElseThrow()
                                    .holder()
                                    .label())
                            .contains("DROP TABLE");
                    assertThat(hold.isValid()).isTrue();
                }
            }
        }
    }

    @Test
    void aReleaseTogetherWithTheNextClaimTellsThatTheLockWasBrokenBefore() {
        try (Store holder = store();
                Store breaker = store()) {
            Grant kept = Requests.get(
                            Asked.of(holder, Requests.claim("exchanged")).answer())
                    .orElseThrow();
            Exchange first = exchange(holder, kept, Requests.claim(kept.name()));
            assertThat(Requests.get(first.released())).isTrue();
            Grant broken = Requests.get(first.claimed()).orElseThrow();
            assertThat(Requests.get(breaker.breakGrant("exchanged", broken.number(), true)))
                    .isTrue();

            Exchange second = exchange(holder, broken, Requests.claim(broken.name()));

            assertThat(Requests.get(second.released())).isFalse();
            assertThat(Requests.get(second.claimed())).isPresent();
        }
    }

    @Test
    void whatAGrantWritesIsOfOneMomentOfTheServersClock() {
        String name = "one moment";
        try (Store store = store()) {
            assertIsOfOneMoment(hold(store, name)); // a row that is new
            Requests.get(store.release(hold(store, name + " again")));
            Grant again = hold(store, name + " again");
            assertIsOfOneMoment(again);
            Exchange both = exchange(store, again, Requests.claim(again.name()));
            assertThat(Requests.get(both.released())).isTrue();
            assertIsOfOneMoment(Requests.get(both.claimed()).orElseThrow());
        }
    }

    private void assertIsOfOneMoment(Grant grant) {
        assertThat(ask("SELECT count(*) FROM holdfast_lock WHERE grant_number = " + grant.number()
                        + " AND version = grant_number AND acquired_at = grant_number AND expires_at = grant_number + "
                        + TimeUnit.NANOSECONDS.toMicros(grant.lease().toNanos())))
                .as("%s", grant)
                .isEqualTo("1");
    }

    private static Grant hold(Store store, String name) {
        return Requests.get(Asked.of(store, Requests.claim(name)).answer()).orElseThrow();
    }

    @Test
    void aClaimThatComesTwiceKeepsItsNumberByWhichItIsRenewed() {
        try (Store store = store();
                Store other = store()) {
            for (Mode mode : List.of(Mode.EXCLUSIVE, Mode.SHARED, new Mode.Permits(1, 2))) {
                Claim claim = Requests.mode(Requests.claim("twice " + mode), mode);
                Grant grant = Requests.get(Asked.of(store, claim).answer()).orElseThrow();
                Grant late = Requests.get(Asked.of(other, claim).answer()).orElseThrow();

                assertThat(late.number()).as("%s", mode).isEqualTo(grant.number());
                assertThat(Requests.get(store.renew(List.of(grant)))
                                .get(grant.id())
                                .verdict())
                        .as("%s", mode)
                        .isEqualTo(Renewal.Verdict.HELD);
            }
        }
    }

    @Test
    void aReaderThatComesWithTheReleaseOfAnOldHoldHasItsWholeLease() {
        String name = "whole lease " + dialect();
        try (Store first = store();
                Store second = store();
                Store reader = store()) {
            Grant begun =
                    Requests.get(Asked.of(first, Requests.claim(name)).answer()).orElseThrow();
            Asked next = Asked.of(second, Requests.waiting(name));
            await().atMost(SOON).until(() -> Requests.get(first.status(name)).waiting() == 1);
            Asked last = Asked.of(reader, Requests.mode(Requests.waiting(name), Mode.SHARED));
            await().atMost(SOON).until(() -> Requests.get(first.status(name)).waiting() == 2);
            Requests.get(first.release(begun));
            Grant held = Requests.get(next.answer()).orElseThrow();
            long old = System.nanoTime() + Duration.ofMillis(700).toNanos();
            await().atMost(SOON).until(() -> System.nanoTime() - old > 0);

            Exchange both = exchange(second, held, Requests.mode(Requests.claim(name), Mode.SHARED));

            assertThat(Requests.get(both.released())).isTrue();
            Grant sharing = Requests.get(both.claimed()).orElseThrow();
            Duration left =
                    Requests.get(second.status(name)).grant().orElseThrow().leaseLeft();
            assertThat(left.plusNanos(System.nanoTime() - sharing.sentNanos()))
                    .as("of which the holder knows")
                    .isGreaterThanOrEqualTo(Requests.LEASE);
            assertThat(Requests.get(last.answer())).isPresent();
        }
    }

    private record Exchange(CompletionStage<Boolean> released, CompletionStage<Optional<Grant>> claimed) {}

    /** Both in the same breath, so that they become one statement. */
    private static Exchange exchange(Store store, Grant grant, Claim claim) {
        CompletableFuture<Exchange> sent = new CompletableFuture<>();
        store.beforeSending(
                grant.name(),
                () -> sent.complete(new Exchange(
                        store.release(grant), Asked.of(store, claim).answer())));
        return sent.join();
    }

    Store store() {
        return new JdbcStoreProvider().open(url(), new StoreContext(new NoWallClock()));
    }

    /** A client's time whose wall clock is not asked. */
    static final class NoWallClock implements TimeSource {
        private final TimeSource timer = new KitTime();

        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public long wallMillis() {
            throw new UnsupportedOperationException("a store on a server asks no clock but the server's");
        }

        @Override
        public Scheduled schedule(Runnable task, Duration delay) {
            return timer.schedule(task, delay);
        }
    }

    interface Body<T> {
        T run(int index) throws Exception;
    }

    static <T> List<CompletableFuture<T>> together(int threads, Body<T> body) {
        CyclicBarrier start = new CyclicBarrier(threads);
        List<CompletableFuture<T>> done = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int index = i;
            CompletableFuture<T> result = new CompletableFuture<>();
            done.add(result);
            Thread thread = new Thread(() -> {
                try {
                    start.await();
                    result.complete(body.run(index));
                } catch (Exception | AssertionError e) {
                    result.completeExceptionally(e);
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        CompletableFuture.allOf(done.toArray(CompletableFuture<?>[]::new))
                .handle((all, failure) -> true)
                .orTimeout(120, TimeUnit.SECONDS)
                .join();
        return done;
    }
}
