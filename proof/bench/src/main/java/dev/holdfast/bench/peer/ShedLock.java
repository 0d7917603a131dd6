package dev.holdfast.bench.peer;

import dev.holdfast.bench.peer.Peer.PeerLock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.jspecify.annotations.Nullable;

/** A lock of ShedLock, held for 30 s at most. ShedLock never waits, so {@link #acquire} asks again each millisecond. */
public final class ShedLock implements PeerLock {
    private static final Duration AT_MOST = Duration.ofSeconds(30);

    private final LockProvider provider;
    private final String name;
    private @Nullable SimpleLock held;

    /**
     * One thread's view of it.
     *
     * @param provider by which it reaches its store
     */
    public ShedLock(LockProvider provider, String name) {
        this.provider = provider;
        this.name = name;
    }

    @Override
    public void acquire() throws InterruptedException {
        RetryLoop.until(this::take);
    }

    @Override
    public boolean tryAcquire(Duration patience) throws InterruptedException {
        return RetryLoop.within(patience, this::take);
    }

    private boolean take() {
        Optional<SimpleLock> got = provider.lock(new LockConfiguration(Instant.now(), name, AT_MOST, Duration.ZERO));
        held = got.orElse(null);
        return got.isPresent();
    }

    @Override
    public void release() {
        SimpleLock lock = held;
        if (lock != null) {
            held = null;
            lock.unlock();
        }
    }
}
