package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The queue in the server: dead and new waiters, how often they poll, and what a queue leaves behind. */
class QueueTest {
    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final String QUEUE = "holdfast:{a}:q";

    @AutoClose
    private final Rig rig = new Rig();

    @Test
    void aWaiterCutOffBlocksNoClientForLongAndIsNotCountedForLong() {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore one = rig.open();
            RedisStore dead = rig.open("redis://127.0.0.1:" + proxy.port());
            Rig.hold(one, half());
            queue(one, dead, new Mode.Permits(8, 10));
            proxy.toServer().swallow(); // it stays subscribed, and sends nothing

            Asked next = Asked.of(one, Rig.waiting(Rig.claim("a", new Mode.Permits(1, 10))));

            Rig.granted(next);
            Rig.until("no waiter to be counted", () -> Rig.waiting(one, "a") == 0);
        }
    }

    /** No script removes it before the lock is released: its deadline alone shows its end. */
    @Test
    void aDeadWaiterIsNotCountedWhileTheLockIsHeld() {
        RedisStore one = rig.open();
        Grant grant = Rig.hold(one, Rig.claim("a", Duration.ofMinutes(1)));
        enters(Rig.claim("a"), "no-subscriber", 0, true);

        Rig.until("no waiter to be counted", () -> Rig.waiting(one, "a") == 0);

        assertThat(Rig.get(one.list("a")))
                .singleElement()
                .satisfies(listed -> assertThat(listed.waiting()).isZero());
        assertThat(Rig.get(one.renew(List.of(grant))).get(grant.id()).contended())
                .isFalse();
        assertThat(rig.call("ZCARD", QUEUE)).as("it is still there").isEqualTo("2");
    }

    @Test
    void aTryIsNotKeptOutByADeadWaiterThoughNoOtherClientPolls() {
        RedisStore one = rig.open();
        Rig.hold(one, half());
        enters(Rig.claim("a", new Mode.Permits(8, 10)), "no-subscriber", 0, true);
        assertThat(Rig.get(
                        Asked.of(one, Rig.claim("a", new Mode.Permits(1, 10))).answer()))
                .as("behind a waiter that may be alive")
                .isEmpty();

        Rig.until(
                "a permit",
                () -> Rig.get(Asked.of(one, Rig.claim("a", new Mode.Permits(1, 10)))
                                .answer())
                        .isPresent());
    }

    /** It had many before it, so its deadline is far off: the server has it poll, and no client receives that. */
    @Test
    void aWaiterThatHasBecomeTheFirstAndIsDeadIsFoundByTheNextScript() {
        RedisStore one = rig.open();
        Rig.hold(one, half());
        enters(Rig.claim("a", new Mode.Permits(8, 10)), "no-subscriber", 10_000, true);

        assertThat(Rig.get(
                        Asked.of(one, Rig.claim("a", new Mode.Permits(1, 10))).answer()))
                .isPresent();
        assertThat(Rig.waiting(one, "a")).isZero();
    }

    /** A slow proxy, a long pause: no other waiter has taken its place yet, and it asks for its place itself. */
    @Test
    void aFirstWaiterThatPollsLateIsNotTakenForDeadByItsOwnPoll() {
        RedisStore one = rig.open();
        Rig.hold(one, half());
        Claim first = Rig.claim("a", new Mode.Permits(8, 10));
        String place = placeOf(asks(first, "no-subscriber", "0", 0, true));
        asks(Rig.claim("a", new Mode.Permits(1, 10)), "not-yet", "0", 60_000, false);
        Rig.until("its deadline to pass", () -> Rig.waiting(one, "a") == 1);

        assertThat(asks(first, "no-subscriber", place, 0, true)).endsWith(" 0 " + place + " 0");

        assertThat(rig.call("ZCARD", "holdfast:{a}:h"))
                .as("no offer to the one behind")
                .isEqualTo("1");
    }

    /** It is new: its client receives no offers yet, but it is about to ask again. */
    @Test
    void aWaiterThatIsNotSubscribedYetIsGivenItsTimeThoughTheOneBeforeItIsDead() {
        RedisStore one = rig.open();
        Rig.hold(one, half());
        asks(Rig.claim("a", new Mode.Permits(8, 10)), "no-subscriber", "0", 10_000, true);
        asks(Rig.claim("a", new Mode.Permits(7, 10)), "not-yet", "0", 1_000, false);

        assertThat(Rig.get(
                        Asked.of(one, Rig.claim("a", new Mode.Permits(1, 10))).answer()))
                .isEmpty();

        assertThat(Rig.waiting(one, "a")).as("the dead one is gone").isEqualTo(1);
    }

    @Test
    void aFirstClaimThatWasSentTwiceHasThePlaceOfItsFirstCopy() {
        Rig.hold(rig.open(), Rig.claim("a"));
        Claim claim = Rig.claim("a");
        String place = placeOf(asks(claim, "not-yet", "0", 1_000, false));

        assertThat(placeOf(asks(claim, "not-yet", "0", 1_000, false))).isEqualTo(place);
    }

    /** Its key lives on for a while after the lease. */
    @Test
    void aClaimAfterTheEndOfALeaseDoesNotOvertakeTheQueue() {
        RedisStore one = rig.open();
        Rig.hold(one, Rig.claim("a", Duration.ofMillis(300)));
        asks(Rig.claim("a"), "not-yet", "0", 60_000, false);
        Rig.until("the lease to end", () -> !Rig.get(one.status("a")).isHeld());

        assertThat(Rig.attempt(one, "a"))
                .as("offered to the first in the queue")
                .isEmpty();
    }

    @Test
    void soWithALeaseThatWasRenewed() {
        RedisStore one = rig.open();
        Grant grant = Rig.hold(one, Rig.claim("a", Duration.ofMillis(300)));
        asks(Rig.claim("a"), "not-yet", "0", 60_000, false);
        Rig.renew(one, grant);
        Rig.until("the lease to end", () -> !Rig.get(one.status("a")).isHeld());

        assertThat(Rig.attempt(one, "a"))
                .as("offered to the first in the queue")
                .isEmpty();
    }

    /** From {@code -LEFT RANK PLACE MISSED}. */
    private static String placeOf(String answer) {
        return answer.split(" ", -1)[2];
    }

    /** Its client stays alive, and receives messages. */
    @Test
    void aClaimWhoseWithdrawalsAllFailedBlocksNoClientForLong() {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore one = rig.open();
            RedisStore two = rig.open("redis://127.0.0.1:" + proxy.port() + "?timeout=2s");
            Rig.hold(one, half());
            Claim claim = Rig.claim("a", new Mode.Permits(8, 10));
            Asked gone = queue(one, two, claim);
            proxy.toServer().swallow();
            gone.cancel();
            Rig.until("the claim to be given up", () -> gone.answer().isDone());
            Rig.get(two.withdraw(claim).handle((done, failure) -> true));
            proxy.heal();

            Rig.granted(Asked.of(one, Rig.waiting(Rig.claim("a", new Mode.Permits(1, 10)))));
        }
    }

    /** Once the two crossed: repeatedly. */
    @RepeatedTest(5)
    void aClientThatNeverWaitedBeforeIsServedAtItsPlace() {
        RedisStore one = rig.open();
        RedisStore known = rig.open();
        Grant warm = Rig.hold(one, "warm-up");
        Asked warmed = Rig.queue(known, "warm-up");
        Rig.release(one, warm);
        Rig.granted(warmed);
        Grant grant = Rig.hold(one, "a");
        RedisStore first = rig.open();

        Asked early = Asked.of(first, Rig.waiting(Rig.claim("a")));
        Rig.until("its place", () -> Rig.waiting(one, "a") == 1);
        Asked late = Asked.of(known, Rig.waiting(Rig.claim("a")));
        Rig.release(one, grant);

        Rig.until("one of them to be served", () -> isAnswered(early) || isAnswered(late));
        assertThat(isAnswered(early)).isTrue();
        Rig.release(first, Rig.granted(early));
        Rig.granted(late);
    }

    @Test
    void noQueueIsKeptForEver() {
        RedisStore one = rig.open();
        Grant five = Rig.hold(one, Rig.claim("a", new Mode.Permits(5, 10)));
        Grant four = Rig.hold(one, Rig.claim("a", new Mode.Permits(4, 10)));
        Asked waits = queue(one, rig.open(), new Mode.Permits(8, 10));

        Rig.release(one, four); // checks the first waiter, whose claim does not fit
        assertThat(Long.parseLong(rig.call("PTTL", QUEUE))).isBetween(1L, 60_000L);

        Rig.release(one, five);
        Rig.granted(waits);
        assertThat(rig.call("EXISTS", QUEUE)).isEqualTo("0");
    }

    /**
     * Once each of them asked whenever the lease should have ended: a hundred scripts a second. A machine that pauses
     * for a whole lease admits one of them, and then it is measured again.
     */
    @Test
    @Tag("thorough")
    void aHundredWaitersBehindAHolderThatRenewsAShortLeasePollFewTimes() {
        RedisStore holder = rig.open();
        List<RedisStore> stores =
                IntStream.range(0, 4).mapToObj(i -> rig.open()).toList();
        OptionalInt polls = OptionalInt.empty();
        for (int tries = 0; tries < 5 && polls.isEmpty(); tries++) {
            polls = polls(holder, stores, "measured " + tries);
        }

        assertThat(polls).as("in four seconds").isPresent();
        assertThat(polls.getAsInt()).as("in four seconds").isLessThan(4 * 60);
    }

    /** The polls of a hundred waiters in four seconds; none if the holder lost its lock. */
    private OptionalInt polls(RedisStore holder, List<RedisStore> stores, String name) {
        Grant grant = Rig.hold(holder, Rig.claim(name, Duration.ofSeconds(1)));
        List<Asked> waiters = new ArrayList<>();
        try {
            for (int i = 0; i < 100; i++) {
                waiters.add(Asked.of(stores.get(i % 4), Rig.waiting(Rig.claim(name, LEASE))));
                Rig.renew(holder, grant);
            }
            AtomicBoolean held = new AtomicBoolean(true);
            Rig.until("all to wait", () -> {
                held.set(Rig.renew(holder, grant) == Verdict.HELD);
                return !held.get() || Rig.waiting(holder, name) == 100;
            });
            rig.commands();
            long begun = System.nanoTime();
            int renewals = 0;
            while (held.get()
                    && System.nanoTime() - begun < Duration.ofSeconds(4).toNanos()) {
                held.set(Rig.renew(holder, grant) == Verdict.HELD);
                renewals++;
                Awaitility.await().pollDelay(Duration.ofMillis(90)).until(() -> true);
            }
            int scripts = rig.commands().get("evalsha");
            return held.get() ? OptionalInt.of(scripts - renewals) : OptionalInt.empty();
        } finally {
            waiters.forEach(Asked::cancel);
        }
    }

    @Test
    @Tag("thorough")
    void aThousandReadersAreAdmittedTogetherAndNoScriptNotifiesMoreThanSome() {
        RedisStore one = rig.open();
        Grant writer = Rig.hold(one, "a");
        List<RedisStore> stores =
                IntStream.range(0, 4).mapToObj(i -> rig.open()).toList();
        List<Asked> readers = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            readers.add(Asked.of(stores.get(i % 4), Rig.waiting(Rig.claim("a", Mode.SHARED))));
        }
        Rig.until("all to wait", () -> Rig.waiting(one, "a") == readers.size());

        Rig.release(one, writer);

        List<Grant> held = readers.stream().map(Rig::granted).toList();
        assertThat(Rig.get(one.renew(held)).values()).allMatch(said -> said.verdict() == Verdict.HELD);
        Asked next = Rig.queue(one, "a");
        for (int i = 0; i < held.size(); i++) {
            assertThat(isAnswered(next)).isFalse();
            assertThat(Rig.release(stores.get(i % 4), held.get(i))).isTrue();
        }
        Rig.granted(next);
    }

    @Test
    void aReleaseOffersTheLockToSomeReadersAndThoseThatConfirmGoOn() {
        RedisStore one = rig.open();
        Grant writer = Rig.hold(one, "a");
        for (int i = 0; i < 1_000; i++) {
            // given their second, though no client receives offers
            enters(Rig.claim("a", Mode.SHARED), "not-yet", 1_000, false);
        }
        rig.commands();

        Rig.release(one, writer);

        assertThat(rig.commands().get("publish")).isEqualTo(64);
        assertThat(rig.call("ZCARD", "holdfast:{a}:h")).isEqualTo("64");
    }

    /** Half of the permits, for longer than any test waits: no waiter is admitted because that lease has ended. */
    private static Claim half() {
        Claim five = Rig.claim("a", new Mode.Permits(5, 10));
        return new Claim(five.id(), five.name(), five.mode(), Duration.ofMinutes(10), false, 0, five.holder());
    }

    private static boolean isAnswered(Asked pending) {
        return pending.answer().isDone();
    }

    private Asked queue(RedisStore observer, RedisStore store, Mode mode) {
        return queue(observer, store, Rig.claim("a", mode));
    }

    /** A claim that waits, and whose client is subscribed. */
    private Asked queue(RedisStore observer, RedisStore store, Claim claim) {
        Claim brief = new Claim(claim.id(), claim.name(), claim.mode(), LEASE, true, 0, claim.holder());
        int before = Rig.waiting(observer, "a");
        Asked pending = Asked.of(store, brief);
        Rig.until("it to wait", () -> Rig.waiting(observer, "a") == before + 1);
        rig.awaitSubscribed(1);
        return pending;
    }

    /** As after a clock that was set back: each has a deadline of its own, by which it is known whether it is alive. */
    @Test
    void twoThatArriveInTheSameMicrosecondHavePlacesOfTheirOwn() {
        Rig.hold(rig.open(), "a");
        Claim one = Rig.claim("a");
        Claim two = Rig.claim("a");

        String first = placeOf(asks(one, "somewhere", "1700000000000000", 1_000, true));
        String second = placeOf(asks(two, "somewhere", "1700000000000000", 1_000, true));

        assertThat(first).isEqualTo("1700000000000000");
        assertThat(second).isEqualTo("1700000000000001");
        assertThat(rig.call("ZCARD", QUEUE)).isEqualTo("4");
        assertThat(placeOf(asks(two, "somewhere", second, 1_000, true))).isEqualTo(second);
    }

    /** Enters the queue for a client that no longer exists. */
    private void enters(Claim claim, String channel, long poll, boolean subscribed) {
        assertThat(asks(claim, channel, "0", poll, subscribed)).startsWith("-");
    }

    /** The answer of the server to a claim that waits. */
    private String asks(Claim claim, String channel, String place, long poll, boolean subscribed) {
        List<String> words = new ArrayList<>(List.of("EVAL", Script.CLAIM_FULLY.body(), "1", "holdfast:{a}"));
        Claim brief = new Claim(claim.id(), claim.name(), claim.mode(), LEASE, true, 0, claim.holder());
        words.addAll(Scripts.words(brief, new Scripts.Place(channel, place, Duration.ofMillis(poll), subscribed)));
        return rig.call(words.toArray(String[]::new));
    }
}
