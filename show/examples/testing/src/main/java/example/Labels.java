package example;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import java.util.Optional;

/** The code under test: one of several servers prints at a time. */
class Labels {
    private final LockClient client;
    private final Printer printer;
    private final Runnable layout;

    Labels(LockClient client, Printer printer, Runnable layout) {
        this.client = client;
        this.printer = printer;
        this.layout = layout;
    }

    /** Prints, unless another server does: then it returns false. */
    boolean print(String label) {
        Optional<Hold> free = client.lock("printer").tryAcquire();
        if (free.isEmpty()) {
            return false;
        }
        try (Hold hold = free.get()) {
            layout.run(); // takes its time
            printer.print(label, hold.token());
            return true;
        }
    }
}
