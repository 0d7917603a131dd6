package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.StoreKind;

/**
 * What one worker process is told to do, in one line of its standard input.
 *
 * @param peer the id of the peer
 * @param store the store it runs on
 * @param url where that is
 * @param worker the number of this worker among its like; the one after the last of the load keeps the lock
 * @param load what there is to do
 * @param nanos how long the round is
 * @param page the file of the {@link SharedPage}
 */
record Orders(String peer, StoreKind store, String url, int worker, Load load, long nanos, String page) {
    private static final String SEPARATOR = "\t";

    /** Whether this worker holds the lock that the others want. */
    boolean isToKeep() {
        return worker >= load.processes();
    }

    /** How many clients it has. */
    int clients() {
        return isToKeep() ? 1 : load.clients();
    }

    /** How many threads each of them has. */
    int threads() {
        return isToKeep() ? 1 : load.threads();
    }

    String toLine() {
        return String.join(
                SEPARATOR,
                peer,
                store.name(),
                url,
                Integer.toString(worker),
                load.toWord(),
                Long.toString(nanos),
                page);
    }

    static Orders parse(String line) {
        String[] words = line.split(SEPARATOR);
        return new Orders(
                words[0],
                StoreKind.valueOf(words[1]),
                words[2],
                Integer.parseInt(words[3]),
                Load.parse(words[4]),
                Long.parseLong(words[5]),
                words[6]);
    }
}
