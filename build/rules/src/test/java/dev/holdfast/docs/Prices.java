package dev.holdfast.docs;

import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import java.util.Optional;

/** Prices from a cache that is kept equal to a database. */
final class Prices {
    private final LockClient client;
    private final HoldOptions options;
    private final PriceTable table;
    private final PriceCache cache;

    Prices(LockClient client, HoldOptions options, PriceTable table, PriceCache cache) {
        this.client = client;
        this.options = options;
        this.table = table;
        this.cache = cache;
    }

    DistributedReadWriteLock lock(int item) {
        return client.readWriteLock("price:" + item, options);
    }

    // @formatter:off
    // snippet cacheRead
    int priceOf(int item) throws InterruptedException {
        Optional<Integer> known = cache.get(item);
        if (known.isPresent()) {
            return known.get();                                 // a hit asks nobody
        }
        try (Hold reading = lock(item).read().acquire()) {      // beside other readers, without a writer
            int price = table.read(item, reading.token());
            cache.fill(item, price, reading.token());
            return price;
        }
    }
    // end

    // snippet cacheWrite
    boolean change(int item, int price) throws InterruptedException {
        try (Hold writing = lock(item).write().acquire()) {     // alone
            cache.clear(item, writing.token());                 // first, so that a crash leaves it empty
            return table.write(item, price, writing.token());
        }
    }
    // end
    // @formatter:on
}
