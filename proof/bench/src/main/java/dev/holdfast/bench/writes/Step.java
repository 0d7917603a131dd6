package dev.holdfast.bench.writes;

import dev.holdfast.bench.peer.Peer;
import dev.holdfast.bench.peer.Peer.Mode;
import dev.holdfast.bench.peer.Peer.PeerLock;
import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.run.Schedule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** What is counted, so many times; its clients are its own and are closed when it ends. */
enum Step {
    KNOWN_NAME("lock + unlock, names used before") {
        @Override
        void run(PeerKind kind, String url, int times) throws Exception {
            try (Peer client = kind.connect(url, 1)) {
                for (int i = 0; i < times; i++) {
                    turn(client, "known-" + i % NAMES);
                }
            }
        }
    },

    NEW_NAME("lock + unlock, a new name each") {
        @Override
        void run(PeerKind kind, String url, int times) throws Exception {
            try (Peer client = kind.connect(url, 1)) {
                for (int i = 0; i < times; i++) {
                    turn(client, "new-" + NEW.incrementAndGet());
                }
            }
        }
    },

    REFUSED("a try that is refused") {
        @Override
        void run(PeerKind kind, String url, int times) throws Exception {
            try (Peer holder = kind.connect(url, 1);
                    Peer other = kind.connect(url, 1)) {
                PeerLock held = holder.open("held", Mode.EXCLUSIVE);
                PeerLock wanted = other.open("held", Mode.EXCLUSIVE);
                held.acquire();
                for (int i = 0; i < times; i++) {
                    if (wanted.tryAcquire(Duration.ZERO)) {
                        throw new IllegalStateException(kind.id() + " does not exclude");
                    }
                }
                held.release();
            }
        }
    },

    /** Two clients take turns; the one that does not hold the lock waits for it. */
    HANDED_OVER("lock + unlock, the other of two clients waits") {
        @Override
        void run(PeerKind kind, String url, int times) throws Exception {
            ExecutorService threads = Executors.newFixedThreadPool(2);
            try (Peer one = kind.connect(url, 1);
                    Peer other = kind.connect(url, 1)) {
                Semaphore oneHas = new Semaphore(0);
                Semaphore otherHas = new Semaphore(1); // so one begins
                Future<?> first = threads.submit(() -> turns(one, times / 2, otherHas, oneHas));
                Future<?> second = threads.submit(() -> turns(other, times / 2, oneHas, otherHas));
                first.get();
                second.get();
            } finally {
                threads.shutdownNow();
            }
        }

        private Void turns(Peer client, int times, Semaphore theOtherHas, Semaphore has) throws Exception {
            PeerLock lock = client.open("handed", Mode.EXCLUSIVE);
            for (int i = 0; i < times; i++) {
                theOtherHas.acquire();
                lock.acquire();
                has.release();
                Schedule.pause(WORK);
                lock.release();
            }
            lock.close();
            return null;
        }
    };

    /** Of the names that are used again and again. */
    static final int NAMES = 20;

    private static final Duration WORK = Duration.ofMillis(5);
    private static final AtomicInteger NEW = new AtomicInteger(1_000_000);

    final String title;

    Step(String title) {
        this.title = title;
    }

    abstract void run(PeerKind kind, String url, int times) throws Exception;

    private static void turn(Peer client, String name) throws Exception {
        PeerLock lock = client.open(name, Mode.EXCLUSIVE);
        lock.acquire();
        lock.release();
        lock.close();
    }

    /** Holds so many locks at once. */
    static List<PeerLock> hold(Peer client, PeerKind kind, int locks) throws Exception {
        List<PeerLock> held = new ArrayList<>();
        for (int i = 0; i < locks; i++) {
            PeerLock lock = client.open(kind.id() + "-" + i, Mode.EXCLUSIVE);
            lock.acquire();
            held.add(lock);
        }
        return held;
    }
}
