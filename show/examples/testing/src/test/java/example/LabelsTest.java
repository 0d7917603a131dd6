package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.LockClient;
import dev.holdfast.StaleTokenException;
import dev.holdfast.testkit.HoldfastExtension;
import dev.holdfast.testkit.TestLocks;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Each test has locks of its own, in memory, with a time that only the test moves. */
@ExtendWith(HoldfastExtension.class)
class LabelsTest {
    private final Printer printer = new Printer();

    @Test
    void theLockIsReleasedAfterAPrint(TestLocks locks, LockClient client) {
        assertTrue(new Labels(client, printer, () -> locks.assertHeld("printer")).print("A"));

        locks.assertReleased("printer");
    }

    @Test
    void nothingIsPrintedWhileAnotherServerPrints(TestLocks locks, LockClient client) {
        try (Hold theirs = locks.somebodyElse().take("printer")) {
            assertFalse(new Labels(client, printer, () -> {}).print("A"));
            assertEquals(List.of(), printer.printed());
        }
    }

    @Test
    void aServerThatWasStoppedForLongerThanItsLeasePrintsNothing(TestLocks locks, LockClient client) {
        Labels other = new Labels(locks.anotherClient(), printer, () -> {});
        Labels stopped =
                new Labels(client, printer, () -> locks.pauseHolder("printer", () -> assertTrue(other.print("B"))));

        assertThrows(StaleTokenException.class, () -> stopped.print("A"));
        assertEquals(List.of("B"), printer.printed());
    }

    @Test
    void aLossIsNeverSilent(TestLocks locks, LockClient client) {
        Labels labels = new Labels(client, printer, () -> locks.lose("printer"));

        assertThrows(HoldLostException.class, () -> labels.print("A"));
    }
}
