package dev.holdfast.testkit;

import dev.holdfast.LockClient;
import dev.holdfast.spi.Grant;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The clients of one test, in the order in which they were made: those under test, and those of somebody else. Thread-safe. */
final class TestProcesses {
    private static final long POLL_MILLIS = 1;

    private final List<TestProcess> underTest = new CopyOnWriteArrayList<>();
    private final List<TestProcess> others = new CopyOnWriteArrayList<>();
    private final List<Contender> contenders = new CopyOnWriteArrayList<>();

    void addUnderTest(TestProcess process) {
        underTest.add(process);
    }

    Contender addOther(TestProcess process) {
        Contender other = new Contender(process.client);
        others.add(process);
        contenders.add(other);
        return other;
    }

    List<TestProcess> underTest() {
        return underTest;
    }

    /** Those under test first. */
    List<TestProcess> all() {
        return Stream.concat(underTest.stream(), others.stream()).toList();
    }

    /**
     * Whose client that is.
     *
     * @throws IllegalArgumentException if it is none of this test
     */
    TestProcess of(LockClient client) {
        return all().stream()
                .filter(process -> process.client == client)
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(client + " is no client of this test"));
    }

    /**
     * Those under test that hold a lock.
     *
     * @throws IllegalStateException if none does
     */
    List<TestProcess> holders(String name) {
        List<TestProcess> holders = underTest.stream()
                .filter(process -> !process.grantsOf(name).isEmpty())
                .toList();
        if (holders.isEmpty()) {
            throw nobodyHolds(name);
        }
        return holders;
    }

    /** The grants of those under test. */
    Stream<Grant> held() {
        return grants(underTest);
    }

    private static Stream<Grant> grants(List<TestProcess> processes) {
        return processes.stream().flatMap(process -> process.store().grants().stream());
    }

    /** How many callers of those under test wait. */
    long waiting() {
        return underTest.stream()
                .mapToLong(process -> process.client.statistics().waitingNow())
                .sum();
    }

    /** Waits, by the machine's clock, until so many callers of those under test wait. */
    void awaitWaiting(int callers, Duration patience) {
        long end = System.nanoTime() + patience.toNanos();
        while (waiting() < callers || underTest.stream().anyMatch(TestProcess::isAboutToWait)) {
            if (System.nanoTime() - end >= 0) {
                throw new AssertionError(
                        waiting() + " caller(s) wait for locks after " + patience.toSeconds() + " s, not " + callers);
            }
            try {
                Thread.sleep(POLL_MILLIS);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted while awaiting " + callers + " waiting caller(s)");
            }
        }
    }

    /** Fails unless the only client under test holds a lock. */
    void assertHeld(String name) {
        if (underTest.size() > 1) {
            throw new AssertionError("this test has " + underTest.size() + " clients, and the hold of one would excuse"
                    + " the others: say which must hold '" + name + "' now by assertHeld(client, name)");
        }
        assertHeld(underTest, name);
    }

    static void assertHeld(List<TestProcess> clients, String name) {
        List<Grant> held = grants(clients).toList();
        if (held.stream().noneMatch(grant -> grant.name().equals(name))) {
            throw new AssertionError("expected '" + name + "' to be held now, but held are "
                    + held.stream().map(Grant::name).distinct().sorted().toList()
                    + "; acquire the lock before the work begins, and release it after its end, commit included");
        }
    }

    /** Fails if a client under test has such a grant. */
    void assertReleased(String what, Predicate<Grant> which) {
        List<Grant> held = held().filter(which).toList();
        if (!held.isEmpty()) {
            throw new AssertionError("expected " + what + " to be released, but held are: "
                    + String.join(
                            ", ",
                            held.stream()
                                    .map(grant -> "'" + grant.name() + "' (token "
                                            + grant.number() * TestLocks.TOKENS_PER_GRANT + ")")
                                    .toList())
                    + "; close holds in a try statement");
        }
    }

    /** Closes all, without a loss of what somebody else holds: that is none of the test. */
    void close() {
        underTest.forEach(TestProcess::close);
        contenders.forEach(Contender::releaseAll);
        others.forEach(TestProcess::close);
    }

    IllegalStateException nobodyHolds(String name) {
        return new IllegalStateException("no client under test holds '" + name + "' now; held are "
                + held().map(Grant::name).distinct().sorted().toList());
    }
}
