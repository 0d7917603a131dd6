package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Load.Locks;
import java.util.ArrayList;
import java.util.List;

/**
 * What one worker process is told to do, in one line of its standard input.
 *
 * @param peer the id of the peer
 * @param store the store it runs on
 * @param url where that is
 * @param worker the number of this worker among its like
 * @param clients how many clients
 * @param threads how many threads each
 * @param locks which locks
 * @param holdNanos for how long they are held
 * @param nanos how long the round is
 * @param page the file of the {@link SharedPage}
 */
record Orders(
        String peer,
        StoreKind store,
        String url,
        int worker,
        int clients,
        int threads,
        Locks locks,
        long holdNanos,
        long nanos,
        String page) {
    private static final String SEPARATOR = "\t";

    String toLine() {
        return String.join(
                SEPARATOR,
                peer,
                store.name(),
                url,
                Integer.toString(worker),
                Integer.toString(clients),
                Integer.toString(threads),
                locks.name(),
                Long.toString(holdNanos),
                Long.toString(nanos),
                page);
    }

    static Orders parse(String line) {
        List<String> words = new ArrayList<>(List.of(line.split(SEPARATOR)));
        return new Orders(
                words.remove(0),
                StoreKind.valueOf(words.remove(0)),
                words.remove(0),
                Integer.parseInt(words.remove(0)),
                Integer.parseInt(words.remove(0)),
                Integer.parseInt(words.remove(0)),
                Locks.valueOf(words.remove(0)),
                Long.parseLong(words.remove(0)),
                Long.parseLong(words.remove(0)),
                words.remove(0));
    }
}
