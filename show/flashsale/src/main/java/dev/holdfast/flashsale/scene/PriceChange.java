package dev.holdfast.flashsale.scene;

import dev.holdfast.LockClient;
import dev.holdfast.recipes.ClearableCache;
import dev.holdfast.recipes.ConsistentCache;
import dev.holdfast.recipes.Source;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A price changes while a reader is between the database and the cache. Actor 0 reads, and is slow; without a lock it puts
 * into the cache what it has read when the writer is done. Actor 1 changes the price as soon as the reader has read; actor
 * 2 looks at both afterwards.
 */
final class PriceChange implements Scene {
    static final long OLD = 100;
    private static final long NEW = 200;
    private static final long SLOW = 700; // milliseconds, from reading to putting
    private static final long POLL = 10;
    private static final long LONGEST_WAIT = 10_000;

    private final LockClient client;
    private final Notes notes;
    private final ClearableCache<Long> cache;
    private final Source<Long> prices;

    PriceChange(LockClient client, Notes notes) {
        this.client = client;
        this.notes = notes;
        cache = notes.cache();
        prices = notes.prices();
    }

    @Override
    public List<Span> play(Part part) throws InterruptedException {
        List<Span> spans = new ArrayList<>();
        switch (part.actor()) {
            case 0 -> read(part, spans);
            case 1 -> change(part, spans);
            default -> look(part, spans);
        }
        return spans;
    }

    private void read(Part part, List<Span> spans) throws InterruptedException {
        if (part.way().equals(PLAIN)) {
            long price = readSlowly(part, 0, spans);
            await(hasChanged(part)); // however busy the machine is
            cache.put(part.run(), price, 0);
        } else {
            long unused = shop(part, spans).get(part.run()).orElseThrow();
        }
        long now = Span.now();
        spans.add(new Span("reader", "put", now, now, cached(part)));
    }

    private void change(Part part, List<Span> spans) throws InterruptedException {
        await(hasRead(part));
        long began = Span.now();
        if (part.way().equals(PLAIN)) {
            prices.write(part.run(), NEW, 0);
            cache.clear(part.run(), 0);
            notes.write(hasChanged(part), NEW, 0);
        } else {
            shop(part, spans).put(part.run(), NEW);
        }
        spans.add(Span.since(began, "writer", "change", NEW));
    }

    private void await(String note) throws InterruptedException {
        long end = Span.now() + LONGEST_WAIT;
        while (notes.find(note).isEmpty()) {
            if (Span.now() > end) {
                throw new IllegalStateException("the other actor did not come within " + LONGEST_WAIT + " ms");
            }
            Thread.sleep(POLL);
        }
    }

    private void look(Part part, List<Span> spans) {
        long began = Span.now();
        spans.add(Span.since(began, "cache", "cache", cached(part)));
        spans.add(Span.since(
                began, "database", "database", prices.read(part.run(), 0).orElseThrow()));
    }

    private String cached(Part part) {
        return cache.get(part.run()).map(found -> found.value().toString()).orElse(Span.NOTHING);
    }

    /** The recipe, with a database that is as slow for a reader as the one without it. */
    private ConsistentCache<Long> shop(Part part, List<Span> spans) {
        return ConsistentCache.of(client, "price", cache, new Source<>() {
            @Override
            public Optional<Long> read(String key, long token) {
                try {
                    return Optional.of(readSlowly(part, token, spans));
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new IllegalStateException("interrupted", e);
                }
            }

            @Override
            public void write(String key, Long value, long token) {
                prices.write(key, value, token);
            }
        });
    }

    private long readSlowly(Part part, long token, List<Span> spans) throws InterruptedException {
        long began = Span.now();
        long price = prices.read(part.run(), token).orElseThrow();
        notes.write(hasRead(part), price, 0);
        Thread.sleep(SLOW);
        spans.add(Span.since(began, "reader", "read", price));
        return price;
    }

    private static String hasChanged(Part part) {
        return "changed:" + part.run();
    }

    private static String hasRead(Part part) {
        return "read:" + part.run();
    }
}
