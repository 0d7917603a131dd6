package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.LockMode;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Mode.Permits;
import dev.holdfast.tck.History.Held;
import dev.holdfast.testbed.ChildProcess;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Between processes: readers, writers and holders of permits that contend, are killed, and are stopped past their lease. */
abstract class SharedProcessCases extends ContenderCases {
    private static final int ROUNDS = 50;
    private static final Mode READ = Mode.SHARED;
    private static final Mode WRITE = Mode.EXCLUSIVE;
    private static final Mode ONE_OF_TWO = new Permits(1, 2);
    private static final Duration FOUND_DEAD_WITHIN = Duration.ofSeconds(2);

    SharedProcessCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void writersOfSeveralProcessesAreAloneAndReadersAreBesideReadersOnly() throws Exception {
        assumeMode(LockMode.SHARED);
        List<ChildProcess> children = contenders(Claims.LONG, READ, READ, WRITE, WRITE);
        children.forEach(child -> child.send("race " + ROUNDS));
        children.forEach(child -> child.expect("raced " + ROUNDS, patient()));

        assertThat(new SharedResource(sharedFile()).counter())
                .as("lost updates")
                .isEqualTo(2 * ROUNDS);
        assertThat(judged().holds()).hasSize(4 * ROUNDS);
    }

    @Test
    void aReaderThatIsKilledKeepsAWriterOutNoLongerThanItsLeaseAndEndsNoOther() throws Exception {
        assumeMode(LockMode.SHARED);
        List<ChildProcess> children = contenders(lease(), READ, READ, WRITE);
        ChildProcess other = children.get(1);
        ChildProcess writer = children.get(2);
        acquire(children.get(0));
        acquire(other);
        writer.send("acquire");
        rig.raw().awaitWaiting(name, 1);

        children.get(0).kill();
        long killed = System.nanoTime();
        rig.pass(leaseInStore());
        other.send("look");
        other.expect("valid", patient());
        other.send("close");
        other.expect("closed", patient());
        long closed = System.nanoTime();

        tokenOf(writer);
        writer.send("close");
        writer.expect("closed", patient());
        Held writing = judged().holds().get(2);
        assertThat(writing.mode()).isEqualTo(WRITE);
        long free = Math.max(closed, killed + leaseInStore().toNanos());
        assertThat(Duration.ofNanos(writing.began() - free)).isLessThan(SLACK);
    }

    @Test
    @Tag("thorough")
    void aReaderStoppedPastItsLeaseFindsItLostAndWasNeverValidBesideAWriter() throws Exception {
        assumeMode(LockMode.SHARED);
        List<ChildProcess> children = contenders(lease(), READ, WRITE);
        ChildProcess stopped = children.get(0);
        ChildProcess writer = children.get(1);
        long token = acquire(stopped);
        writer.send("acquire");
        rig.raw().awaitWaiting(name, 1);

        stopBetweenRequests(stopped);

        assertThat(tokenOf(writer)).isGreaterThan(token);
        assertLost(stopped);
        writer.send("look");
        writer.expect("valid", patient());
        writer.send("close");
        writer.expect("closed", patient());
        assertThat(judged().naiveOverlaps())
                .as("the fault bit: a reader that never looks would have been inside with the writer")
                .isNotEmpty();
    }

    @Test
    @Tag("thorough")
    void readersWhoWaitComeInTogetherWhenAWriterIsKilled() throws Exception {
        assumeMode(LockMode.SHARED);
        List<ChildProcess> children = contenders(lease(), WRITE, READ, READ);
        long token = acquire(children.get(0));
        RawClient raw = rig.raw();
        for (int i = 1; i < 3; i++) {
            children.get(i).send("acquire");
            raw.awaitWaiting(name, i);
        }

        children.get(0).kill();

        for (ChildProcess reader : children.subList(1, 3)) {
            assertThat(tokenOf(reader)).isGreaterThan(token);
        }
        for (ChildProcess reader : children.subList(1, 3)) {
            reader.send("look");
            reader.expect("valid", patient());
        }
        judged();
    }

    @Test
    void noMorePermitsAreOutOverAllProcessesThanThereAre() throws Exception {
        assumeMode(LockMode.PERMITS);
        List<ChildProcess> children = contenders(Claims.LONG, ONE_OF_TWO, ONE_OF_TWO, ONE_OF_TWO, new Permits(2, 2));
        children.forEach(child -> child.send("race " + ROUNDS));
        children.forEach(child -> child.expect("raced " + ROUNDS, patient()));

        assertThat(judged().holds()).hasSize(4 * ROUNDS);
    }

    @Test
    @Tag("thorough")
    void thePermitsOfProcessesThatAreKilledOrStoppedComeBackAndNoMoreThanThose() throws Exception {
        assumeMode(LockMode.PERMITS);
        List<ChildProcess> children = contenders(lease(), ONE_OF_TWO, ONE_OF_TWO, ONE_OF_TWO, ONE_OF_TWO);
        ChildProcess stopped = children.get(1);
        acquire(children.get(0));
        acquire(stopped);
        RawClient raw = rig.raw();
        for (int i = 2; i < 4; i++) {
            children.get(i).send("acquire");
            raw.awaitWaiting(name, i - 1);
        }

        children.get(0).kill();
        tokenOf(children.get(2));
        raw.awaitWaiting(name, 1); // one came back, not two; its row may go a moment after its grant
        stopBetweenRequests(stopped);

        tokenOf(children.get(3));
        assertLost(stopped);
        for (ChildProcess holder : children.subList(2, 4)) {
            holder.send("look");
            holder.expect("valid", patient());
            holder.send("close");
            holder.expect("closed", patient());
        }
        assertThat(judged().naiveOverlaps())
                .as("the fault bit: with one that never looks there would have been three inside")
                .isNotEmpty();
    }

    @Test
    @Tag("thorough")
    void aKilledWaiterWhosePermitsAreNotFreeBlocksNobodyForLongerThanItsLeaseAndTwoSeconds() throws Exception {
        assumeMode(LockMode.PERMITS);
        aKilledWaiterBlocksNobody(new Permits(5, 10), new Permits(8, 10), new Permits(1, 10));
    }

    @Test
    @Tag("thorough")
    void aKilledWriterBehindReadersBlocksNoReaderForLongerThanItsLeaseAndTwoSeconds() throws Exception {
        assumeMode(LockMode.SHARED);
        aKilledWaiterBlocksNobody(READ, WRITE, READ);
    }

    /** The dead one is the first in the queue, and what it wants is not free; what the next wants is. */
    private void aKilledWaiterBlocksNobody(Mode held, Mode dead, Mode next) throws Exception {
        List<ChildProcess> children = contenders(lease(), held, dead, next);
        RawClient raw = rig.raw();
        acquire(children.get(0));
        children.get(1).send("acquire");
        raw.awaitWaiting(name, 1);
        children.get(2).send("acquire");
        if (rig.capabilities().fair()) {
            raw.awaitWaiting(name, 2);
        }

        children.get(1).kill();
        long killed = System.nanoTime();

        long began = Long.parseLong(children.get(2).expect(HOLDING, patient()).group(2));
        assertThat(Duration.ofNanos(began - killed)).isLessThan(leaseInStore().plus(FOUND_DEAD_WITHIN));
        raw.awaitWaiting(name, 0);
        for (ChildProcess holder : List.of(children.get(0), children.get(2))) {
            holder.send("look");
            holder.expect("valid", patient());
            holder.send("close");
            holder.expect("closed", patient());
        }
        judged();
    }

    private void assertLost(ChildProcess stopped) {
        stopped.cont();
        stopped.send("look");
        stopped.expect("invalid", patient());
        stopped.send("close");
        stopped.expect("lost", patient());
    }

    private void assumeMode(LockMode kind) {
        assumeTrue(rig.capabilities().modes().contains(kind), "this store has no mode " + kind);
    }
}
