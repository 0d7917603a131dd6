package dev.holdfast.challenge.lock;

import dev.holdfast.challenge.lock.LockKind.Place;
import dev.holdfast.spi.Mode;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.state.ConnectionStateListener;

/** Curator's mutex, whose holder gives its hold up when a listener reports that the connection is suspended or lost. */
final class CuratorListening implements AttackedLock {
    private final CuratorFramework client;
    private final InterProcessMutex mutex;
    private final AtomicInteger losses = new AtomicInteger();
    private final ConnectionStateListener listener;

    CuratorListening(Place place) throws Exception {
        client = Curators.at(place);
        mutex = new InterProcessMutex(client, "/curator/" + place.name());
        listener = (unused, state) -> {
            if (!state.isConnected()) {
                losses.incrementAndGet();
            }
        };
        client.getConnectionStateListenable().addListener(listener);
    }

    @Override
    public Result turn(Mode mode, Work work) throws Exception {
        mutex.acquire();
        int before = losses.get();
        Grip hold = new Grip(0, 0, () -> losses.get() == before);
        try {
            work.run(hold);
        } finally {
            mutex.release();
        }
        return hold.isValid() ? Result.DONE : Result.LOST;
    }

    @Override
    public void close() {
        client.getConnectionStateListenable().removeListener(listener);
    }
}
