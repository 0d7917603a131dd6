package dev.holdfast;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** A listener that keeps everything it hears, and on which threads. */
final class Ear implements LockListener {
    final List<LockEvent> heard = new CopyOnWriteArrayList<>();
    final Set<Thread> threads = ConcurrentHashMap.newKeySet();

    private void hear(LockEvent event) {
        threads.add(Thread.currentThread());
        heard.add(event);
    }

    /** What was heard so far, each as its kind and lock: {@code "Acquired a"}. */
    List<String> kinds() {
        return heard.stream()
                .map(event -> event.getClass().getSimpleName() + " " + event.name())
                .toList();
    }

    /** The events of one kind. */
    <E extends LockEvent> List<E> all(Class<E> kind) {
        return heard.stream().filter(kind::isInstance).map(kind::cast).toList();
    }

    /** The only event of one kind. */
    <E extends LockEvent> E only(Class<E> kind) {
        List<E> found = all(kind);
        if (found.size() != 1) {
            throw new AssertionError(found.size() + " " + kind.getSimpleName() + " in " + heard);
        }
        return found.get(0);
    }

    @Override
    public void onWaiting(LockEvent.Waiting event) {
        hear(event);
    }

    @Override
    public void onNotAcquired(LockEvent.NotAcquired event) {
        hear(event);
    }

    @Override
    public void onAcquired(LockEvent.Acquired event) {
        hear(event);
    }

    @Override
    public void onReleased(LockEvent.Released event) {
        hear(event);
    }

    @Override
    public void onRenewed(LockEvent.Renewed event) {
        hear(event);
    }

    @Override
    public void onRenewalFailed(LockEvent.RenewalFailed event) {
        hear(event);
    }

    @Override
    public void onSuspect(LockEvent.Suspect event) {
        hear(event);
    }

    @Override
    public void onLeaked(LockEvent.Leaked event) {
        hear(event);
    }

    @Override
    public void onLost(Loss loss) {
        hear(loss);
    }

    @Override
    public void onReleaseFailed(LockEvent.ReleaseFailed event) {
        hear(event);
    }
}
