package dev.holdfast.testkit;

import dev.holdfast.LockEvent;
import dev.holdfast.LockListener;
import dev.holdfast.Loss;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** What happened to the locks of one client, in order. Thread-safe. */
final class EventLog implements LockListener {
    private final List<LockEvent> events = new CopyOnWriteArrayList<>();
    private final Consumer<LockEvent.Waiting> onWaiting;

    EventLog(Consumer<LockEvent.Waiting> onWaiting) {
        this.onWaiting = onWaiting;
    }

    List<LockEvent> events() {
        return List.copyOf(events);
    }

    /**
     * Whether all holds with a token have ended, as was reported. What was handed over has the grant of the hold before
     * it, and a token of its own; readers share one.
     *
     * @param name as the store knows it
     */
    boolean hasEnded(String name, long token) {
        int begun = 0;
        int ended = 0;
        for (LockEvent event : events) {
            if (!name.equals(event.name()) && !name.endsWith(":" + event.name())) {
                continue;
            }
            if (event instanceof LockEvent.Acquired acquired && acquired.token() == token) {
                begun++;
            } else if (event instanceof LockEvent.Released released && released.token() == token
                    || event instanceof Loss loss && loss.token() == token) {
                ended++;
            }
        }
        return ended > 0 && ended >= begun;
    }

    @Override
    public void onWaiting(LockEvent.Waiting event) {
        events.add(event);
        onWaiting.accept(event);
    }

    @Override
    public void onNotAcquired(LockEvent.NotAcquired event) {
        events.add(event);
    }

    @Override
    public void onAcquired(LockEvent.Acquired event) {
        events.add(event);
    }

    @Override
    public void onReleased(LockEvent.Released event) {
        events.add(event);
    }

    @Override
    public void onRenewed(LockEvent.Renewed event) {
        events.add(event);
    }

    @Override
    public void onRenewalFailed(LockEvent.RenewalFailed event) {
        events.add(event);
    }

    @Override
    public void onSuspect(LockEvent.Suspect event) {
        events.add(event);
    }

    @Override
    public void onLeaked(LockEvent.Leaked event) {
        events.add(event);
    }

    @Override
    public void onLost(Loss loss) {
        events.add(loss);
    }

    @Override
    public void onReleaseFailed(LockEvent.ReleaseFailed event) {
        events.add(event);
    }
}
