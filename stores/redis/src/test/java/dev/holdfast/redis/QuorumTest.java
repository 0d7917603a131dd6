package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.FaultyTime;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.ServerClock;
import dev.holdfast.testbed.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Three independent servers of which a majority decides, while one of them is killed or paused. */
class QuorumTest extends QuorumCase {
    private static final Duration TIMEOUT = Duration.ofSeconds(3);

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
    void aMemberThatIsPausedChangesNothing() {
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
                return ask(member, "GET", KEY).startsWith("1 X");
            });
        }

        assertThat(attempt(open(), NAME)).isEmpty();
        assertThat(Rig.get(store.release(held))).isTrue();
        assertThat(attempt(open(), NAME)).isPresent();
    }

    @Test
    void aLostMajorityIsReportedImmediatelyAndTheWaitSurvivesIt() {
        QuorumStore holder = open();
        QuorumStore waiter = open();
        RecordingListener listener = new RecordingListener();
        waiter.listen(listener);
        Grant held = hold(holder, Rig.claim(NAME, BRIEF));
        Asked waiting = Asked.of(waiter, Rig.waiting(Rig.claim(NAME)));

        servers.get(0).process().kill();
        servers.get(1).process().kill();

        assertThat(Rig.get(listener.unreachable)).isEqualTo(NAME);
        assertThatThrownBy(() -> attempt(holder, NAME)).isInstanceOf(StoreUnavailableException.class);
        assertThat(waiting.answer()).isNotDone();
        for (RedisServer member : List.of(servers.get(0), servers.get(1))) {
            member.process().restart();
            QuorumServers.setUp(member); // no client works under a lock any more
        }
        assertThat(Rig.granted(waiting).number()).isGreaterThan(held.number());
        Rig.get(listener.reachable);
    }

    @Test
    void theGrantsOfAMinorityAreReleased() {
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

    /** Below: its number is yet to be raised. Above: it joined later, at a clock that is ahead. */
    @ParameterizedTest
    @ValueSource(longs = {-1, 1})
    void theNumberThatIsShownIsThatOfTheGrantThoughAMemberHasAnother(long more) {
        Grant held = hold(open(), Rig.claim(NAME));
        List<RedisServer> all = servers.all();
        all.forEach(member -> Rig.until("its grant", () -> hasHolder(member)));
        String number = " " + held.number();
        String state = all.stream()
                .map(member -> ask(member, "GET", KEY))
                .filter(of -> of.contains(number))
                .findFirst()
                .orElseThrow();
        all.forEach(member -> ask(member, "SET", KEY, state, "KEEPTTL"));
        ask(all.get(2), "SET", KEY, state.replace(number, " " + (held.number() + more)), "KEEPTTL");

        QuorumStore other = open();

        assertThat(Rig.get(other.status(NAME)).grant().orElseThrow().token()).isEqualTo(held.number() * 1024);
        assertThat(Rig.get(other.breakGrant(NAME, held.number(), true))).isTrue();
        assertThat(attempt(other, NAME)).isPresent();
    }

    @Test
    void tokensRiseWhateverMajorityGrants() {
        String ahead = farAhead();
        ask(servers.get(0), "SET", "holdfast:number", ahead);
        QuorumStore store = open();
        servers.get(2).process().stop();
        Grant first = hold(store, Rig.claim(NAME));
        assertThat(first.number()).isGreaterThan(Long.parseLong(ahead));
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

    /** By hand, or since its clock was wrong. */
    @ParameterizedTest
    @ValueSource(strings = {"hello", "8000000000000000"})
    void aMemberWhoseLastNumberIsDamagedDecidesNothing(String value) {
        QuorumStore store = open();
        Grant first = hold(store, Rig.claim(NAME));
        ask(servers.get(0), "SET", "holdfast:number", value);
        assertThat(Rig.get(store.release(first))).isTrue();

        Grant second = hold(store, Rig.claim(NAME));

        assertThat(second.number()).isGreaterThan(first.number()).isLessThan(8_000_000_000_000_000L);
        assertThat(ask(servers.get(0), "GET", "holdfast:number")).isEqualTo(value);
        assertThat(verdict(store, second)).isEqualTo(Renewal.Verdict.HELD);
        assertThat(Rig.get(store.release(second))).isTrue();
    }

    @RepeatedTest(10)
    @Tag("thorough")
    void soDoesAMemberWhoseClockIsManyYearsAhead() {
        try (ServerClock clock = OrSkip.orSkip(ServerClock::create);
                RedisServer ahead = OrSkip.orSkip(() -> RedisServer.startInstalled(clock.environment()))) {
            clock.set(Duration.ofDays(20 * 365));
            QuorumServers.setUp(ahead);
            try (QuorumStore store = open("quorum:" + ahead.uri() + ","
                    + servers.get(0).uri() + "," + servers.get(1).uri())) {
                Rig.until("all to be connected", () -> granted(store, "warm-up"));
                long nextYear =
                        TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis()) + TimeUnit.DAYS.toMicros(365);
                for (int i = 0; i < 20; i++) {
                    Grant grant = hold(store, Rig.claim("a" + i));
                    assertThat(grant.number()).isLessThan(nextYear);
                    assertThat(verdict(store, grant)).isEqualTo(Renewal.Verdict.HELD);
                    assertThat(Rig.get(store.release(grant))).isTrue();
                }
            }
        }
    }

    @Test
    void aMajorityThatTookLongerThanTheLeaseIsReleased() {
        TcpProxy first = opened(TcpProxy.to(servers.get(0).port()));
        TcpProxy second = opened(TcpProxy.to(servers.get(1).port()));
        QuorumStore store = open("quorum:redis://127.0.0.1:" + first.port() + ",redis://127.0.0.1:" + second.port()
                + "," + servers.get(2).uri());
        first.toClient().hold();
        second.toClient().hold();

        CompletableFuture<Optional<Grant>> claimed =
                Asked.of(store, Rig.claim(NAME, Duration.ofMillis(300))).answer();

        assertThatThrownBy(() -> Rig.get(claimed)).isInstanceOf(StoreUnavailableException.class);
        first.heal();
        second.heal();
        Rig.until(
                "nothing to be left",
                () -> servers.all().stream()
                        .noneMatch(member -> ask(member, "GET", KEY).startsWith("1 X")));
    }

    @Test
    void anErrorOfTheTimerAfterARoundLeavesNoWaitAsleep() {
        FaultyTime faulty = new FaultyTime();
        QuorumStore store = openBesideAHold(faulty);
        // no other task comes so soon as the end of the first pause
        faulty.failNextTask(pause -> pause.compareTo(Duration.ofMillis(20)) < 0, new InternalError("of the test"));

        Asked waits = Asked.of(store, Rig.waiting(Rig.claim(NAME)));

        assertEndsOnceTheTimerFails(waits, faulty);
    }

    @Test
    void norDoesOneBeforeARound() {
        FaultyTime faulty = new FaultyTime();
        QuorumStore store = openBesideAHold(faulty);
        Asked waits = Asked.of(store, Rig.waiting(Rig.claim(NAME)));
        Rig.until("it to wait", () -> Rig.get(store.status(NAME)).waiting() == 1);

        faulty.failNextTask(TIMEOUT::equals, new InternalError("of the test"));

        assertEndsOnceTheTimerFails(waits, faulty);
    }

    private QuorumStore openBesideAHold(FaultyTime time) {
        hold(open(), Rig.claim(NAME));
        return open(servers.url() + "?timeout=" + TIMEOUT.toMillis() + "ms", time);
    }

    private static void assertEndsOnceTheTimerFails(Asked waits, FaultyTime time) {
        Rig.until("the timer to fail", time::hasFailed);
        Rig.until("the wait to end", waits.answer()::isDone);
    }

    /** A number far above the clocks, and not so far that it is refused. */
    static String farAhead() {
        return Long.toString(
                TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis()) + TimeUnit.DAYS.toMicros(5 * 365));
    }

    /** Keeps the reports of a store. */
    private static final class RecordingListener implements StoreListener {
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
}
