package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.TcpProxy;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A member that was out of reach for a while: the changes it has missed, and the data it still keeps. */
@Tag("thorough")
class QuorumCutTest extends QuorumCase {
    @Test
    void aWaitTakesWhatItsOwnEarlierRoundLeftBehindForNoRival() {
        List<TcpProxy> wires = wires();
        QuorumStore store = open(through(wires));
        wires.forEach(wire -> wire.toClient().hold());
        Asked waiting = Asked.of(store, Rig.waiting(Rig.claim(NAME, LONG)));
        Rig.until(
                "a majority to have granted it",
                () -> servers.all().stream().filter(QuorumTest::hasHolder).count() >= 2);

        wires.forEach(TcpProxy::cut);
        wires.forEach(TcpProxy::heal);

        assertThat(Rig.granted(waiting).lease())
                .as("granted long before the end of the lease without a holder")
                .isEqualTo(LONG);
    }

    @Test
    void theGrantThatTheFirstRoundOfATryLeftAtOneMemberIsReleasedLater() {
        List<TcpProxy> theirs = wires();
        theirs.get(0).refuse();
        hold(open(through(theirs)), Rig.claim(NAME));
        List<TcpProxy> wires = wires();
        ByHand later = new ByHand(LONG.dividedBy(3));
        QuorumStore store = open(through(wires), later);

        wires.get(0).toClient().hold();
        assertThat(Rig.get(Asked.of(store, Rig.claim(NAME, LONG)).answer())).isEmpty();
        Rig.until("one member to have granted it", () -> hasHolder(servers.get(0)));
        wires.get(0).cut();
        wires.get(0).heal();
        Rig.until("it to be planned", later::hasTask);
        Rig.until("the member to be back", () -> grantsBeside(store, 0));
        later.run();

        Rig.until("it to be released", () -> !hasHolder(servers.get(0)));
    }

    private boolean grantsBeside(QuorumStore store, int member) {
        Grant beside = hold(store, Rig.claim("beside"));
        boolean granted = ask(servers.get(member), "GET", "holdfast:{beside}").startsWith("1 X");
        return Rig.get(store.release(beside)) && granted;
    }

    @Test
    void aReleaseThatTooFewReceivedIsRepeatedForTheRoundThatTheMembersKnow() {
        List<TcpProxy> wires = wires();
        QuorumStore store = open(through(wires));
        QuorumStore other = open();
        Grant before = hold(other, Rig.claim(NAME));
        Asked waiting = Asked.of(store, Rig.waiting(Rig.claim(NAME, LONG)));
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

        Rig.until("the release to arrive", () -> isReleased(store, held));
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

        Rig.get(store.status(NAME)); // after everything sent before
        assertThat(ask(servers.get(2), "GET", KEY)).doesNotStartWith("1 X");
    }

    @Test
    void aMemberThatMissedTheNumberOfAGrantLearnsItWhenItJoins() {
        for (RedisServer ahead : List.of(servers.get(0), servers.get(1))) {
            ask(ahead, "SET", "holdfast:number", QuorumTest.farAhead());
        }
        List<TcpProxy> wires = wires();
        ByHand soon = new ByHand(Duration.ofMillis(50));
        QuorumStore store = open(through(wires), soon);
        wires.get(2).toClient().hold();
        Grant held = hold(store, Rig.claim(NAME));
        Rig.until("the third member to have granted it, with its own number", () -> hasHolder(servers.get(2)));
        wires.get(2).cut();
        wires.get(2).heal();
        Rig.until("the member to be back", () -> grantsBeside(store, 2));

        soon.run();
        Rig.get(store.status(NAME)); // after everything sent before
        assertThat(ask(servers.get(2), "GET", KEY)).endsWith(" " + held.number());

        assertThat(Rig.get(store.release(held))).isTrue();
        servers.get(0).process().kill();
        servers.get(1).process().kill();
        servers.get(1).process().restart();
        QuorumServers.setUp(servers.get(1)); // without its numbers
        assertThat(hold(open(), Rig.claim(NAME)).number()).isGreaterThan(held.number());
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
        Asked waiting = Asked.of(store, Rig.waiting(Rig.claim(NAME)));
        Rig.until("it to wait", () -> Rig.get(store.status(NAME)).waiting() == 1);

        servers.all().forEach(member -> ask(member, "ZADD", KEY + ":q", "4000000000000001", "@gone"));

        Rig.until(
                "it alone to be in the queues",
                () -> servers.all().stream()
                        .allMatch(member -> ask(member, "ZCARD", KEY + ":q").equals("1")));
        waiting.cancel();
    }

    private static boolean isReleased(QuorumStore store, Grant grant) {
        try {
            return Rig.get(store.release(grant));
        } catch (StoreUnavailableException notConnectedYet) {
            return false;
        }
    }
}
