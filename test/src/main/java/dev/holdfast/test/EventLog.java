package dev.holdfast.test;

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
