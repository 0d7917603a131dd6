package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.tck.History.Held;
import dev.holdfast.testbed.ChildProcess;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Between processes: children that contend, are killed while they hold or wait, and are stopped past their lease. */
abstract class ProcessCases extends ContenderCases {
    private static final int ROUNDS = 100;

    ProcessCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void fourProcessesExcludeEachOtherAndTheirTokensRise() throws Exception {
        List<ChildProcess> children = contenders(4, Claims.LONG);
        children.forEach(child -> child.send("race " + ROUNDS));
        children.forEach(child -> child.expect("raced " + ROUNDS, patient()));

        assertThat(new SharedResource(sharedFile()).counter())
                .as("lost updates")
                .isEqualTo(4 * ROUNDS);
        History history = judged();
        assertThat(history.holds()).hasSize(4 * ROUNDS);
    }

    @Test
    void whenAHolderIsKilledTheNextIsInSoonAfterItsLease() throws Exception {
        List<ChildProcess> children = contenders(4, lease());
        ChildProcess victim = children.get(0);
        long token = acquire(victim);
        List<ChildProcess> others = children.subList(1, 4);
        others.forEach(child -> child.send("race 5"));
        rig.raw().awaitWaiting(name, 3);

        victim.kill();
        long killed = System.nanoTime();

        others.forEach(child -> child.expect("raced 5", patient()));
        History history = judged();
        Held next = history.holds().get(1);
        assertThat(history.holds()).hasSize(1 + 3 * 5);
        assertThat(history.holds().get(0).token()).isEqualTo(token);
        assertThat(next.token()).isGreaterThan(token);
        assertThat(Duration.ofNanos(next.began() - killed))
                .isLessThan(leaseInStore().plus(SLACK));
    }

    @Test
    void aHolderStoppedPastItsLeaseFindsItLostAndWasNeverValidBesideAnother() throws Exception {
        List<ChildProcess> children = contenders(2, lease());
        ChildProcess stopped = children.get(0);
        ChildProcess next = children.get(1);
        long token = acquire(stopped);
        next.send("acquire");
        rig.raw().awaitWaiting(name, 1);

        stopBetweenRequests(stopped);

        long higher = tokenOf(next);
        assertThat(higher).isGreaterThan(token);
        stopped.cont();
        stopped.send("look");
        stopped.expect("invalid", patient());
        stopped.send("close");
        stopped.expect("lost", patient());
        next.send("look");
        next.expect("valid", patient());
        next.send("close");
        next.expect("closed", patient());
        assertThat(judged().naiveOverlaps())
                .as("the fault bit: a holder that never looks would have been inside with the next")
                .isNotEmpty();
    }

    @Test
    @Tag("thorough")
    void waitersThatAreKilledBlockNobody() throws Exception {
        List<ChildProcess> children = contenders(4, lease());
        ChildProcess holder = children.get(0);
        long token = acquire(holder);
        RawClient raw = rig.raw();
        for (int i = 1; i < 4; i++) {
            children.get(i).send("acquire");
            raw.awaitWaiting(name, i);
        }
        children.get(1).kill();
        children.get(2).kill();

        holder.send("close");

        holder.expect("closed", patient());
        assertThat(tokenOf(children.get(3))).isGreaterThan(token);
        children.get(3).send("close");
        children.get(3).expect("closed", patient());
        judged();
    }

    @Test
    @Tag("thorough")
    void aWaiterStoppedWhenItsTurnComesIsPassedOverAndServedLater() throws Exception {
        List<ChildProcess> children = contenders(3, lease());
        ChildProcess holder = children.get(0);
        acquire(holder);
        RawClient raw = rig.raw();
        for (int i = 1; i < 3; i++) {
            children.get(i).send("acquire");
            raw.awaitWaiting(name, i);
        }
        stopBetweenRequests(children.get(1));

        holder.send("close");

        holder.expect("closed", patient());
        children.get(2).expect(HOLDING, patient());
        children.get(2).send("close");
        children.get(2).expect("closed", patient());
        children.get(1).cont();
        children.get(1).expect(HOLDING, patient());
        children.get(1).send("close");
        children.get(1).expect("closed", patient());
        judged();
    }
}
