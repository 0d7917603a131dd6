package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.Peer;
import dev.holdfast.bench.peer.Peer.Mode;
import dev.holdfast.bench.peer.Peer.PeerLock;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Which lock a thread takes for its next turn. A lock of a fixed name is opened once; where a turn picks one of many
 * names, the lock is opened for the turn, as a service does for each request. For one thread.
 */
final class LockChoice {
    private static final int READS_OF_A_HUNDRED = 95;
    private static final AtomicLong THREADS = new AtomicLong();

    private final Peer peer;
    private final Load load;
    private final RandomGenerator random;
    private final String fixed;
    private final @Nullable Names names;
    private @Nullable PeerLock one;
    private @Nullable PeerLock writer;

    LockChoice(Orders orders, Peer peer, int client, int thread, RandomGenerator random) {
        this.peer = peer;
        this.load = orders.load();
        this.random = random;
        this.fixed = switch (load.locks()) {
            case OWN, OWN_SEVERAL -> "own-" + orders.worker() + "-" + client + "-" + thread;
            case ONE -> "one";
            case KEPT -> "kept";
            case ONE_MOSTLY_READ -> "one-read-write";
            case ONE_SEMAPHORE -> "one-semaphore";
            case ONE_SEVERAL -> "several";
            case OF_A_SERVICE -> "service-";
            case ZIPF -> "zipf-";
            case ONCE -> "once-" + ProcessHandle.current().pid() + "-" + THREADS.incrementAndGet() + "-";
        };
        this.names = switch (load.locks()) {
            case OF_A_SERVICE -> Names.ofAService(random);
            case ZIPF -> Names.zipf(random);
            case ONCE -> Names.once();
            default -> null;
        };
    }

    /** What a turn takes. */
    record Choice(PeerLock lock, boolean reads, int number) {
        static final int NONE = -1;
    }

    /** Opens what has a fixed name. */
    void open() throws Exception {
        switch (load.locks()) {
            case OWN, ONE, KEPT -> one = peer.open(fixed, Mode.EXCLUSIVE);
            case ONE_MOSTLY_READ -> {
                one = peer.open(fixed, Mode.READ);
                writer = peer.open(fixed, Mode.WRITE);
            }
            case ONE_SEMAPHORE -> one = peer.open(fixed, Mode.PERMIT);
            case OWN_SEVERAL, ONE_SEVERAL -> one = peer.open(fixed, Mode.SEVERAL);
            case OF_A_SERVICE, ZIPF, ONCE -> one = null;
        }
    }

    Choice next() throws Exception {
        if (names != null) {
            int number = names.next();
            return new Choice(
                    peer.open(fixed + number, Mode.EXCLUSIVE),
                    false,
                    load.locks() == Load.Locks.ONCE ? Choice.NONE : number);
        }
        PeerLock lock = one;
        boolean reads = false;
        if (writer != null) {
            reads = random.nextInt(100) < READS_OF_A_HUNDRED;
            lock = reads ? one : writer;
        }
        if (lock == null) {
            throw new IllegalStateException(fixed + " is not open");
        }
        return new Choice(lock, reads, Choice.NONE);
    }

    /** After the turn. */
    void done(Choice choice) throws Exception {
        if (names != null) {
            choice.lock().close();
        }
    }

    void close() throws Exception {
        if (one != null) {
            one.close();
        }
        if (writer != null) {
            writer.close();
        }
    }
}
