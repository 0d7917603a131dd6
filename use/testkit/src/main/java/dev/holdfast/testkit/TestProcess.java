package dev.holdfast.testkit;

import dev.holdfast.LockClient;
import dev.holdfast.LockClientBuilder;
import dev.holdfast.LockEvent;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.Grant;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** One client of a test, with its own clock and its own way to the store: what a process is in production. */
final class TestProcess {
    final LockClient client;
    private final ProcessClock clock;
    private final FaultyStore store;
    private final EventLog log;

    TestProcess(
            TestTime time,
            MemoryStore memory,
            ListenerThread listeners,
            Consumer<LockEvent.Waiting> onWaiting,
            UnaryOperator<LockClientBuilder> settings) {
        clock = new ProcessClock(time);
        store = new FaultyStore(memory.open(clock), clock);
        log = new EventLog(onWaiting);
        LockClientBuilder builder = LockClient.builder(store).listener(log);
        client = settings.apply(builder).time(clock).listenerExecutor(listeners).build();
    }

    FaultyStore store() {
        return store;
    }

    List<LockEvent> events() {
        return log.events();
    }

    /** The grants that stand in the store of a lock. */
    List<Grant> grantsOf(String name) {
        return store.grants().stream()
                .filter(grant -> grant.name().equals(name))
                .toList();
    }

    /** Whether a hold with this token is open, and its grant stands in the store. */
    boolean holds(String name, long token) {
        return grantsOf(name).stream().anyMatch(grant -> grant.number() == token / TestLocks.TOKENS_PER_GRANT)
                && !log.hasEnded(name, token);
    }

    /** Whether a caller has begun to wait, and has neither a claim in the queue nor a hold of this client before it. */
    boolean isAboutToWait() {
        return client.statistics().waitingNow() > 0
                && !store.hasWaitingClaim()
                && store.grants().isEmpty();
    }

    void stop() {
        clock.stop();
    }

    void goOn() {
        clock.goOn();
    }

    void close() {
        clock.goOn();
        client.close();
    }
}
