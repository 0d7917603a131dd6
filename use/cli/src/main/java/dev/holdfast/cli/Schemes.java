package dev.holdfast.cli;

import dev.holdfast.spi.StoreProvider;
import java.util.List;
import java.util.Locale;
import java.util.ServiceLoader;

/** The stores that this program has, by the words with which their URLs begin. */
final class Schemes {
    private Schemes() {}

    /** Those of the stores on the class path, but for the one that no two processes share. */
    static List<String> known() {
        return ServiceLoader.load(StoreProvider.class).stream()
                .flatMap(provider -> provider.get().schemes().stream())
                .filter(scheme -> !StoreUrl.isOfOneProcess(scheme + ":"))
                .sorted()
                .toList();
    }

    /** The provider of a URL for which there is a store. */
    static StoreProvider providerOf(StoreUrl url) {
        String scheme = url.value().substring(0, url.value().indexOf(':')).toLowerCase(Locale.ROOT);
        return ServiceLoader.load(StoreProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(provider -> provider.schemes().contains(scheme))
                .findFirst()
                .orElseThrow();
    }

    /** Whether it is a known scheme with something behind it: {@code redis-socket}. */
    private static boolean isNoSecret(String scheme, List<String> known) {
        return scheme.matches("[a-z-]{1,20}") && known.stream().anyMatch(each -> scheme.startsWith(each + "-"));
    }

    /**
     * Checks that there is a store for a URL.
     *
     * @throws CliException if there is none
     */
    static void requireKnown(StoreUrl url) {
        int colon = url.value().indexOf(':');
        String scheme = colon < 0 ? "" : url.value().substring(0, colon).toLowerCase(Locale.ROOT);
        List<String> known = known();
        if (!known.contains(scheme)) {
            String why =
                    isNoSecret(scheme, known) || url.value().startsWith("://", colon) && scheme.matches("[a-z]{1,20}")
                            ? "no store is known for '" + scheme + ":'"
                            : "it begins with a scheme and a colon, as in sqlite:locks.db";
            throw url.bad(why + "; known here: " + String.join(", ", known), null);
        }
    }
}
