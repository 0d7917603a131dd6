package dev.holdfast;

import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

/** A client behind a line that a test breaks, a rival on the same store, and a clock that moves when told. */
@Timeout(120)
abstract class BadLineCase {
    final ManualTime time = new ManualTime();
    final MemoryStore memory = new MemoryStore(time);
    final UnreliableStore line = new UnreliableStore(memory.open(time));
    final LockClient client = EngineCase.clientOn(line, time);
    final LockClient rival = EngineCase.clientOn(memory.open(time), time);

    @AfterEach
    void closeClients() {
        line.gathers = false;
        line.send();
        client.close();
        rival.close();
    }
}
