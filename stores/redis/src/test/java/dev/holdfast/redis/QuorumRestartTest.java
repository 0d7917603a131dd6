package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.TcpProxy;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Members that were started again, perhaps without their data, and members that are new. */
@Tag("thorough")
class QuorumRestartTest extends QuorumCase {
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
                        .allMatch(member -> ask(member, "GET", KEY).startsWith("1 X")));

        ask(servers.get(0), "FLUSHALL");
        servers.get(1).process().kill();

        assertThatThrownBy(() -> attempt(open(), NAME)).isInstanceOf(StoreUnavailableException.class);
        assertThat(ask(servers.get(0), "GET", KEY)).doesNotStartWith("1 X");
        assertThat(ask(servers.get(2), "GET", KEY)).contains(" X " + held.id());
    }

    @Test
    void aMemberWithoutItsDataGrantsNothingWhileTheMembersThatKnowTheLongestLeaseAreSilent() {
        aMemberThatLostALongLeaseWaitsForTheMembersThatKnowIt(false);
    }

    @Test
    void aMemberWithOldDataGrantsNothingWhileTheMembersThatKnowTheLongestLeaseAreSilent() {
        aMemberThatLostALongLeaseWaitsForTheMembersThatKnowIt(true);
    }

    private void aMemberThatLostALongLeaseWaitsForTheMembersThatKnowIt(boolean hasOldData) {
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
        assertThat(ask(servers.get(0), "GET", KEY)).doesNotStartWith("1 X");
        wire.heal();
        Rig.until(
                "the member to sit out the lease that the other knows of",
                () -> ask(servers.get(0), "GET", "holdfast:quorum").startsWith("1 " + LONG.toMillis() + " "));
    }

    /** Another member that has lost its data asks it for how long to sit out. */
    @Test
    void aMemberInDoubtRemembersTheLeaseForWhichItRenews() {
        servers.get(2).process().kill();
        QuorumStore holder = open();
        Grant held = hold(holder, Rig.claim(NAME));
        ask(servers.get(0), "SET", "holdfast:quorum", "1 " + held.lease().toMillis() + " 0 anotherProcess");
        ask(servers.get(0), "CLIENT", "KILL", "TYPE", "normal"); // as if it had been started again, with its data
        Rig.until(
                "it to be in doubt",
                () -> ask(servers.get(0), "GET", "holdfast:quorum").endsWith(" ?"));

        Rig.until("both to renew it", () -> verdict(holder, held.withLease(LONG)) == Renewal.Verdict.HELD);

        assertThat(Long.parseLong(ask(servers.get(0), "GET", "holdfast:quorum").split(" ")[1]))
                .isGreaterThanOrEqualTo(Long.parseLong(ask(servers.get(0), "PTTL", KEY)));
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
}
