package dev.holdfast;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreFactory;
import dev.holdfast.spi.StoreProvider;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeSet;

/** Finds the store of a URL among the modules on the class path. */
final class StoreFinder {
    /** Which artifact brings which scheme, for the message when it is missing. */
    private static final Map<String, String> ARTIFACTS = Map.ofEntries(
            Map.entry("sqlite", "dev.holdfast:holdfast-sqlite"),
            Map.entry("jdbc", "dev.holdfast:holdfast-jdbc"),
            Map.entry("redis", "dev.holdfast:holdfast-redis"),
            Map.entry("rediss", "dev.holdfast:holdfast-redis"),
            Map.entry("redis-sentinel", "dev.holdfast:holdfast-redis"),
            Map.entry("rediss-sentinel", "dev.holdfast:holdfast-redis"),
            Map.entry("redis-cluster", "dev.holdfast:holdfast-redis"),
            Map.entry("rediss-cluster", "dev.holdfast:holdfast-redis"),
            Map.entry("quorum", "dev.holdfast:holdfast-redis"),
            Map.entry("zk", "dev.holdfast:holdfast-zookeeper"),
            Map.entry("etcd", "dev.holdfast:holdfast-etcd"),
            Map.entry("etcds", "dev.holdfast:holdfast-etcd"),
            Map.entry("memcached", "dev.holdfast:holdfast-memcached"));

    private StoreFinder() {}

    /**
     * The store of a URL, to be opened. The result throws {@link IllegalArgumentException} if the URL has no scheme or
     * none that is known; the message lists what is, and shows nothing of the URL but its scheme.
     */
    static StoreFactory of(String url) {
        return new StoreFactory() {
            @Override
            public Store open(StoreContext context) {
                return provider(url).open(url, context);
            }

            @Override
            public String describe(StoreContext context) {
                return provider(url).describe(url, context);
            }
        };
    }

    private static StoreProvider provider(String url) {
        int colon = url.indexOf(':');
        String scheme = colon < 0 ? "" : url.substring(0, colon).toLowerCase(Locale.ROOT);
        Map<String, StoreProvider> known = providers();
        StoreProvider provider = known.get(scheme);
        if (provider == null) {
            throw new IllegalArgumentException(unknown(scheme, known));
        }
        return provider;
    }

    private static Map<String, StoreProvider> providers() {
        Map<String, StoreProvider> found = new LinkedHashMap<>();
        for (StoreProvider provider : ServiceLoader.load(StoreProvider.class, StoreProvider.class.getClassLoader())) {
            provider.schemes().forEach(scheme -> found.putIfAbsent(scheme, provider));
        }
        for (StoreProvider provider : ServiceLoader.load(StoreProvider.class)) { // the caller's class loader, if other
            provider.schemes().forEach(scheme -> found.putIfAbsent(scheme, provider));
        }
        return found;
    }

    private static String unknown(String scheme, Map<String, StoreProvider> known) {
        String here = "known here: " + String.join(", ", new TreeSet<>(known.keySet()));
        if (scheme.isEmpty() || !scheme.matches("[a-z][a-z0-9+.-]{0,30}")) {
            return "a store's URL begins with a scheme and a colon, as in sqlite:locks.db; " + here;
        }
        String artifact = ARTIFACTS.get(scheme);
        return artifact == null
                ? "no store is known for '" + scheme + ":'; " + here
                : "the store for '" + scheme + ":' is not on the class path: add " + artifact + "; " + here;
    }
}
