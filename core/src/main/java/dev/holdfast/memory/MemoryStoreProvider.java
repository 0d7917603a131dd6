package dev.holdfast.memory;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreProvider;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Opens {@code mem:}, a store of its own, and {@code mem:NAME}, shared by all clients of this process that name it. */
public final class MemoryStoreProvider implements StoreProvider {
    private static final ConcurrentHashMap<String, MemoryStore> NAMED = new ConcurrentHashMap<>();

    /** For {@link java.util.ServiceLoader}. */
    public MemoryStoreProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("mem");
    }

    @Override
    public Store open(String url, StoreContext context) {
        String name = url.substring("mem:".length());
        MemoryStore store = name.isEmpty()
                ? new MemoryStore(context.time())
                : NAMED.computeIfAbsent(name, absent -> new MemoryStore());
        return store.open(context.time());
    }

    @Override
    public String describe(String url, StoreContext context) {
        return MemorySession.DESCRIPTION;
    }
}
