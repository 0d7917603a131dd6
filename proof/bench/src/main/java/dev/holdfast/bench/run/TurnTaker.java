package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.Peer;
import dev.holdfast.bench.peer.Peer.Mode;
import dev.holdfast.bench.peer.Peer.PeerLock;
import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import java.time.Duration;

/**
 * What a worker does while something breaks: it takes turns on one lock until it is killed, reports each, and goes on
 * through errors as a service does, with a new try after a moment.
 *
 * @param peer the id of the peer
 * @param store the store it runs on
 * @param url where that is
 * @param lock the name of the lock
 * @param hold for how long a turn holds the lock
 */
record TurnTaker(String peer, StoreKind store, String url, String lock, Duration hold) {
    static final String COMMAND = "turns\t";
    static final String ASKS = "@asks ";
    static final String HOLDS = "@holds ";
    static final String ERROR = "@error ";

    private static final String SEPARATOR = "\t";
    private static final Duration AFTER_AN_ERROR = Duration.ofMillis(100);

    String toLine() {
        return COMMAND + String.join(SEPARATOR, peer, store.name(), url, lock, Long.toString(hold.toNanos()));
    }

    static TurnTaker parse(String line) {
        String[] words = line.split(SEPARATOR);
        return new TurnTaker(
                words[1], StoreKind.valueOf(words[2]), words[3], words[4], Duration.ofNanos(Long.parseLong(words[5])));
    }

    /** The kind of the peer. */
    PeerKind kind() {
        return Peers.of(peer, store);
    }

    /** Returns only when the client cannot be connected. */
    void run() throws Exception {
        try (Peer client = kind().connect(url, 1)) {
            System.out.println(ASKS + System.nanoTime());
            while (true) {
                try {
                    turns(client.open(lock, Mode.EXCLUSIVE));
                } catch (Exception e) {
                    System.out.println(
                            ERROR + System.nanoTime() + " " + String.valueOf(e).replace('\n', ' '));
                    Schedule.pause(AFTER_AN_ERROR);
                }
            }
        }
    }

    private void turns(PeerLock opened) throws Exception {
        while (true) {
            opened.acquire();
            long got = System.nanoTime();
            System.out.println(HOLDS + got);
            Schedule.sleepUntil(got + hold.toNanos());
            opened.release();
        }
    }
}
