package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.RespConnection;
import dev.holdfast.testbed.TcpProxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Three independent servers that are killed, stopped, restarted without their data, and out of reach. */
class QuorumTest {
    private static final Duration BRIEF = Duration.ofSeconds(1);
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final String NAME = "order:42";
    private static final String KEY = "holdfast:{" + NAME + "}";

    private final Rig.Time time = new Rig.Time();
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private QuorumServers servers;

    @BeforeEach
    void startServers() {
        servers = OrSkip.orSkip(() -> QuorumServers.start(3));
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each = opened.poll(); each != null; each = opened.poll()) {
            each.close();
        }
        time.close();
        servers.close();
    }

    // ---- one member ----

    @Test
    void aMemberThatIsKilledChangesNothing() {
        QuorumStore store = open();
        Grant before = hold(store, Rig.claim(NAME));

        servers.get(0).process().kill();

        assertThat(verdict(store, before)).isEqualTo(Renewal.Verdict.HELD);
        assertThat(attempt(store, NAME)).isEmpty();
        assertThat(Rig.get(store.release(before))).isTrue();
        QuorumStore other = open();
        Grant after = hold(other, Rig.claim(NAME));
        assertThat(after.number()).isGreaterThan(before.number());
        assertThat(verdict(other, after)).isEqualTo(Renewal.Verdict.HELD);
        assertThat(attempt(store, NAME)).isEmpty();
    }

    @Test
    void aMemberThatStandsStillChangesNothing() {
        QuorumStore store = open();
        Grant before = hold(store, Rig.claim(NAME));

        servers.get(1).process().stop();

        assertThat(verdict(store, before)).isEqualTo(Renewal.Verdict.HELD);
        assertThat(Rig.get(store.release(before))).isTrue();
        Grant after = hold(store, Rig.claim(NAME));
        assertThat(after.number()).isGreaterThan(before.number());
        assertThat(attempt(open(), NAME)).isEmpty();
        servers.get(1).process().cont();
        assertThat(verdict(store, after)).isEqualTo(Renewal.Verdict.HELD);
    }

    @Test
    @Tag("thorough")
    void aHoldSurvivesThatAllMembersAreRestartedWithoutDataOneAfterAnother() {
        QuorumStore store = open();
        Grant held = hold(store, Rig.claim(NAME, BRIEF.multipliedBy(4)));

        for (RedisServer member : servers.all()) {
            member.process().kill();
            assertThat(verdict(store, held)).isEqualTo(Renewal.Verdict.HELD);
            member.process().restart();
            Rig.until("the member to take part again", () -> {
                assertThat(verdict(store, held)).isEqualTo(Renewal.Verdict.HELD);
                return ask(member, "GET", KEY).contains(" X ");
            });
        }

        assertThat(attempt(open(), NAME)).isEmpty();
        assertThat(Rig.get(store.release(held))).isTrue();
        assertThat(attempt(open(), NAME)).isPresent();
    }

    // ---- restarts ----

    @Test
    void aMemberThatWasRestartedWithoutDataGrantsNothingUntilTheLeaseIsOver() {
        servers.get(2).process().kill();
        QuorumStore holder = open();
        Grant held = hold(holder, Rig.claim(NAME, BRIEF.multipliedBy(3)));
        holder.close();

        servers.get(1).process().kill();
        servers.get(1).process().restart();
        servers.get(2).process().restart();
        QuorumServers.setUp(servers.get(2)); // it never had the lock
        QuorumStore rival = open();
        Rig.until("the rival to get the lock", () -> granted(rival, NAME));

        assertThat(time.nanoTime() - held.sentNanos())
                .as("two of three were free before: one of them had forgotten the lock")
                .isGreaterThanOrEqualTo(held.lease().toNanos());
    }

    @Test
    void membersThatAreNewGrantNothingForAWhileAndSayWhatToDo() {
        try (QuorumServers fresh = OrSkip.orSkip(() -> QuorumServers.startNew(3))) {
            QuorumStore store = open(fresh.url());

            assertThatThrownBy(() -> attempt(store, NAME))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("is new in this quorum");
            fresh.all().forEach(QuorumServers::setUp);
            assertThat(attempt(store, NAME)).isPresent();
        }
    }

    @Test
    void aMemberWhoseDataIsDeletedSitsOutToo() {
        QuorumStore store = open();
        Grant held = hold(store, Rig.claim(NAME, BRIEF.multipliedBy(3)));
        Rig.until(
                "all members to have it",
                () -> servers.all().stream()
                        .allMatch(member -> ask(member, "GET", KEY).contains(" X ")));

        ask(servers.get(0), "FLUSHALL");
        servers.get(1).process().kill();

        assertThatThrownBy(() -> attempt(open(), NAME)).isInstanceOf(StoreUnavailableException.class);
        assertThat(ask(servers.get(0), "GET", KEY)).doesNotContain(" X ");
        assertThat(ask(servers.get(2), "GET", KEY)).contains(" X " + held.id());
    }

    @Test
    void aMemberWithoutItsDataGrantsNothingWhileThoseWhoKnowTheLongestLeaseAreSilent() {
        aMemberThatLostALongLeaseWaitsForThoseWhoKnowIt(false);
    }

    @Test
    void aMemberWithOldDataGrantsNothingWhileThoseWhoKnowTheLongestLeaseAreSilent() {
        aMemberThatLostALongLeaseWaitsForThoseWhoKnowIt(true);
    }

    private void aMemberThatLostALongLeaseWaitsForThoseWhoKnowIt(boolean hasOldData) {
        servers.get(2).process().kill();
        QuorumStore holder = open();
        hold(holder, Rig.claim(NAME, LONG));
        holder.close();
        servers.get(0).process().kill();
        servers.get(0).process().restart();
        if (hasOldData) {
            ask(servers.get(0), "SET", "holdfast:quorum", "1 1000 0 anotherProcess");
        }
        servers.get(2).process().restart();
        QuorumServers.setUp(servers.get(2)); // it never had the lock
        TcpProxy wire = opened(TcpProxy.to(servers.get(1).port()));
        wire.refuse();

        QuorumStore rival = open("quorum:" + servers.get(0).uri() + ",redis://127.0.0.1:" + wire.port() + ","
                + servers.get(2).uri());

        assertThatThrownBy(() -> attempt(rival, NAME)).isInstanceOf(StoreUnavailableException.class);
        assertThat(ask(servers.get(0), "GET", KEY)).doesNotContain(" X ");
        wire.heal();
        Rig.until(
                "the member to sit out the lease that the other knows of",
                () -> ask(servers.get(0), "GET", "holdfast:quorum").startsWith("1 " + LONG.toMillis() + " "));
    }

    @Test
    void membersWhoseAddressesAreSwappedAreServersOfTheirOwn() {
        RedisUrl url = RedisUrl.parse(servers.url(), Optional.empty());
        LettuceClients own = LettuceClients.of(url);
        this.<AutoCloseable>opened(own::shutDown);
        QuorumMembers members = new QuorumMembers(
                own.client(),
                url,
                new Settings(time, BRIEF, PendingClaims.POLL, 0),
                new RedisErrors(url.description()));
        QuorumMember first = members.all().get(0);
        QuorumMember second = members.all().get(1);
        members.enrol(first, "one");
        members.enrol(second, "two");
        assertThatThrownBy(() -> members.enrol(first, "two")).isInstanceOf(StoreRefusedException.class);

        first.disconnected();
        second.disconnected();

        assertThatCode(() -> members.enrol(first, "two")).doesNotThrowAnyException();
        assertThatCode(() -> members.enrol(second, "one")).doesNotThrowAnyException();
    }

    // ---- what a cut leaves behind ----

    @Test
    void aWaitTakesWhatItsOwnEarlierRoundLeftBehindForNoRival() {
        List<TcpProxy> wires = wires();
        QuorumStore store = open(through(wires));
        wires.forEach(wire -> wire.toClient().hold());
        Pending waiting = store.claim(Rig.waiting(Rig.claim(NAME, LONG)));
        Rig.until(
                "a majority to have granted it",
                () -> servers.all().stream().filter(QuorumTest::hasHolder).count() >= 2);

        wires.forEach(TcpProxy::cut);
        wires.forEach(TcpProxy::heal);

        assertThat(Rig.granted(waiting).lease())
                .as("granted long before the lease is over that nobody has")
                .isEqualTo(LONG);
    }

    @Test
    void aReleaseThatTooFewHeardIsRepeatedForTheRoundThatTheMembersKnow() {
        List<TcpProxy> wires = wires();
        QuorumStore store = open(through(wires));
        QuorumStore other = open();
        Grant before = hold(other, Rig.claim(NAME));
        Pending waiting = store.claim(Rig.waiting(Rig.claim(NAME, LONG)));
        Rig.until("it to wait", () -> Rig.get(other.status(NAME)).waiting() == 1);
        assertThat(Rig.get(other.release(before))).isTrue();
        Grant held = Rig.granted(waiting);
        assertThat(servers.all())
                .as("it was won by a later round")
                .noneMatch(member -> ask(member, "GET", KEY).contains(held.id().value()));

        wires.forEach(TcpProxy::refuse);
        wires.forEach(TcpProxy::cut);
        assertThatThrownBy(() -> Rig.get(store.release(held))).isInstanceOf(StoreUnavailableException.class);
        wires.forEach(TcpProxy::heal);

        Rig.until("the release to be heard", () -> isReleased(store, held));
        assertThat(attempt(other, NAME)).isPresent();
    }

    @Test
    void noMemberJoinsAClaimThatWasWithdrawn() {
        ByHand soon = new ByHand(Duration.ofMillis(50));
        QuorumStore store = open(servers.url(), soon);
        RedisStore third = single(servers.get(2));
        Grant theirs = Rig.hold(third, NAME);
        Claim claim = Rig.claim(NAME);
        hold(store, claim);

        Rig.get(store.withdraw(claim));
        Rig.release(third, theirs);
        soon.run();

        Rig.get(store.status(NAME)); // behind whatever was sent
        assertThat(ask(servers.get(2), "GET", KEY)).doesNotContain(" X ");
    }

    @Test
    void aLockThatWasBrokenAtSomeMembersIsNotJoinedAgainThere() {
        QuorumStore holder = open();
        Grant held = hold(holder, Rig.claim(NAME));
        Rig.until("all members to have it", () -> servers.all().stream().allMatch(QuorumTest::hasHolder));
        List<TcpProxy> wires = wires();
        wires.get(0).refuse();
        QuorumStore operator = open(through(wires));

        assertThat(Rig.get(operator.breakGrant(NAME, held.number(), true))).isTrue();
        servers.get(2).process().stop();

        assertThat(verdict(holder, held)).isNotEqualTo(Renewal.Verdict.HELD);
        assertThat(hasHolder(servers.get(1))).isFalse();
        servers.get(2).process().cont();
    }

    @Test
    void aWaiterThatEndedWithoutAWordIsForgotten() {
        hold(open(), Rig.claim(NAME));
        QuorumStore store = open();
        Pending waiting = store.claim(Rig.waiting(Rig.claim(NAME)));
        Rig.until("it to wait", () -> Rig.get(store.status(NAME)).waiting() == 1);

        servers.all().forEach(member -> ask(member, "ZADD", KEY + ":q", "4000000000000001", "@gone"));

        Rig.until(
                "it alone to be in the queues",
                () -> servers.all().stream()
                        .allMatch(member -> ask(member, "ZCARD", KEY + ":q").equals("1")));
        waiting.cancel();
    }

    // ---- renewals ----

    @Test
    void aSilentMemberIsWaitedForBrieflyBesideTheLease() {
        ByHand asked = new ByHand(Duration.ofMillis(100));
        QuorumStore store = open(servers.url(), asked);
        Grant held = hold(store, Rig.claim(NAME, Duration.ofMillis(600)));
        servers.get(1).process().stop();

        CompletableFuture<Map<ClaimId, Renewal>> renewed =
                store.renew(List.of(held)).toCompletableFuture();
        Rig.until("a majority to have answered", asked::hasTask);
        asked.run();

        assertThat(Rig.get(renewed)).containsKey(held.id());
        servers.get(1).process().cont();
    }

    @Test
    void aHoldInDoubtDoesNotDelayTheOthers() {
        String doubtful = "doubtful";
        QuorumStore store = open(servers.url() + "?timeout=25s");
        RedisStore third = single(servers.get(2));
        Rig.hold(third, doubtful);
        Grant held = hold(store, Rig.claim(NAME));
        Grant inDoubt = hold(store, Rig.claim(doubtful));
        servers.get(1).process().stop();
        long before = System.nanoTime();

        Map<ClaimId, Renewal> said = Rig.get(store.renew(List.of(held, inDoubt)));

        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(15));
        assertThat(said.get(held.id()).verdict()).isEqualTo(Renewal.Verdict.HELD);
        assertThat(said.get(inDoubt.id()).verdict()).isEqualTo(Renewal.Verdict.UNKNOWN);
        servers.get(1).process().cont();
    }

    // ---- a majority ----

    @Test
    void aLostMajorityIsToldAtOnceAndTheWaitLivesThroughIt() {
        QuorumStore holder = open();
        QuorumStore waiter = open();
        Heard heard = new Heard();
        waiter.listen(heard);
        Grant held = hold(holder, Rig.claim(NAME, BRIEF));
        Pending waiting = waiter.claim(Rig.waiting(Rig.claim(NAME)));

        servers.get(0).process().kill();
        servers.get(1).process().kill();

        assertThat(Rig.get(heard.unreachable)).isEqualTo(NAME);
        assertThatThrownBy(() -> attempt(holder, NAME)).isInstanceOf(StoreUnavailableException.class);
        assertThat(waiting.answer().toCompletableFuture()).isNotDone();
        for (RedisServer member : List.of(servers.get(0), servers.get(1))) {
            member.process().restart();
            QuorumServers.setUp(member); // nobody works under a lock any more
        }
        assertThat(Rig.granted(waiting).number()).isGreaterThan(held.number());
        Rig.get(heard.reachable);
    }

    @Test
    void whatAMinorityGrantedIsGivenBack() {
        RedisStore first = single(servers.get(0));
        RedisStore second = single(servers.get(1));
        Grant one = Rig.hold(first, NAME);
        Grant two = Rig.hold(second, NAME);
        QuorumStore store = open(servers.url() + "?timeout=500ms");

        assertThat(attempt(store, NAME)).isEmpty();

        RedisStore third = single(servers.get(2));
        assertThat(Rig.get(third.status(NAME)).isHeld()).isFalse();
        Rig.release(first, one);
        Rig.release(second, two);
        assertThat(attempt(store, NAME)).isPresent();
    }

    @Test
    void tokensRiseWhateverMajorityGrants() {
        ask(servers.get(0), "SET", KEY, "1 4000000000000000 0 F - 0 ", "PX", "600000"); // far above the clocks
        QuorumStore store = open();
        servers.get(2).process().stop();
        Grant first = hold(store, Rig.claim(NAME));
        assertThat(first.number()).isGreaterThan(4_000_000_000_000_000L);
        assertThat(Rig.get(store.release(first))).isTrue();

        servers.get(2).process().cont();
        servers.get(0).process().kill();
        Grant second = hold(store, Rig.claim(NAME));
        assertThat(second.number()).isGreaterThan(first.number());
        assertThat(Rig.get(store.release(second))).isTrue();

        servers.get(0).process().restart();
        QuorumServers.setUp(servers.get(0)); // without its numbers
        servers.get(1).process().stop();
        Grant third = hold(open(), Rig.claim(NAME));
        assertThat(third.number()).isGreaterThan(second.number());
        servers.get(1).process().cont();
    }

    @Test
    void aMajorityThatTookLongerThanTheLeaseIsGivenBack() {
        TcpProxy first = opened(TcpProxy.to(servers.get(0).port()));
        TcpProxy second = opened(TcpProxy.to(servers.get(1).port()));
        QuorumStore store = open("quorum:redis://127.0.0.1:" + first.port() + ",redis://127.0.0.1:" + second.port()
                + "," + servers.get(2).uri());
        first.toClient().hold();
        second.toClient().hold();

        CompletableFuture<Optional<Grant>> claimed =
                store.claim(Rig.claim(NAME, Duration.ofMillis(300))).answer().toCompletableFuture();

        assertThatThrownBy(() -> Rig.get(claimed)).isInstanceOf(StoreUnavailableException.class);
        first.heal();
        second.heal();
        Rig.until(
                "nothing to be left",
                () -> servers.all().stream()
                        .noneMatch(member -> ask(member, "GET", KEY).contains(" X ")));
    }

    // ---- bad input ----

    @Test
    void oneServerUnderTwoNamesIsRefused() {
        String twice = "quorum:" + servers.get(0).uri() + ",redis://localhost:"
                + servers.get(0).port() + "," + servers.get(1).uri();

        assertThatThrownBy(() -> open(twice))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("names one server twice");
    }

    @Test
    void aMemberThatRefusesIsToldWhenTheStoreIsOpened() {
        String wrong = "quorum:" + servers.get(0).uri() + ",redis://nobody:secret@127.0.0.1:"
                + servers.get(1).port() + "," + servers.get(2).uri();

        assertThatThrownBy(() -> open(wrong))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("password");
    }

    @Test
    void withoutAMajorityNothingIsOpened() {
        servers.get(0).process().kill();
        servers.get(2).process().kill();

        assertThatThrownBy(this::open)
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("only 1 of the 3 members");
    }

    // ---- helpers ----

    /** What a store reports. */
    private static final class Heard implements StoreListener {
        final CompletableFuture<String> unreachable = new CompletableFuture<>();
        final CompletableFuture<Boolean> reachable = new CompletableFuture<>();

        @Override
        public void lost(Grant grant) {}

        @Override
        public void suspect(Grant grant) {}

        @Override
        public void unreachable(String name, Throwable why) {
            unreachable.complete(name);
        }

        @Override
        public void reachable() {
            reachable.complete(true);
        }
    }

    /** A time whose tasks of one delay are run by hand. */
    private final class ByHand implements TimeSource {
        private final Duration which;
        private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

        ByHand(Duration which) {
            this.which = which;
        }

        boolean hasTask() {
            return !tasks.isEmpty();
        }

        void run() {
            for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                task.run();
            }
        }

        @Override
        public long nanoTime() {
            return time.nanoTime();
        }

        @Override
        public long wallMillis() {
            return time.wallMillis();
        }

        @Override
        public Scheduled schedule(Runnable task, Duration delay) {
            if (!delay.equals(which)) {
                return time.schedule(task, delay);
            }
            tasks.add(task);
            return () -> tasks.remove(task);
        }
    }

    /** A wire to each member. */
    private List<TcpProxy> wires() {
        return servers.all().stream()
                .map(member -> opened(TcpProxy.to(member.port())))
                .toList();
    }

    private static String through(List<TcpProxy> wires) {
        return wires.stream()
                .map(wire -> "redis://127.0.0.1:" + wire.port())
                .collect(Collectors.joining(",", "quorum:", "?timeout=3s"));
    }

    private static boolean hasHolder(RedisServer member) {
        return ask(member, "GET", KEY).contains(" X ");
    }

    private static boolean isReleased(QuorumStore store, Grant grant) {
        try {
            return Rig.get(store.release(grant));
        } catch (StoreUnavailableException notConnectedYet) {
            return false;
        }
    }

    private QuorumStore open() {
        return open(servers.url() + "?timeout=3s");
    }

    private QuorumStore open(String url) {
        return open(url, time);
    }

    private QuorumStore open(String url, TimeSource with) {
        return opened(RedisStoreProvider.openQuorum(RedisUrl.parse(url, Optional.empty()), with));
    }

    private RedisStore single(RedisServer member) {
        return opened(
                RedisStoreProvider.open(RedisUrl.parse(member.uri(), Optional.empty()), time, PendingClaims.POLL));
    }

    private <T extends AutoCloseable> T opened(T resource) {
        opened.push(resource);
        return resource;
    }

    private static Grant hold(QuorumStore store, Claim claim) {
        return Rig.get(store.claim(claim).answer()).orElseThrow(() -> new AssertionError("not free: " + claim));
    }

    private static Optional<Grant> attempt(QuorumStore store, String name) {
        return Rig.get(store.claim(Rig.claim(name)).answer());
    }

    private static boolean granted(QuorumStore store, String name) {
        try {
            return attempt(store, name).isPresent();
        } catch (StoreUnavailableException membersSitOut) {
            return false;
        }
    }

    private static Renewal.Verdict verdict(QuorumStore store, Grant grant) {
        return Rig.get(store.renew(List.of(grant))).get(grant.id()).verdict();
    }

    private static String ask(RedisServer member, String... command) {
        try (RespConnection redis = member.connect()) {
            return String.valueOf(redis.call(command));
        }
    }
}
