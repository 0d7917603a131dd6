package dev.holdfast.memcached;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A URL of Memcached servers, taken apart: {@code memcached://HOST[:PORT],HOST[:PORT]…[?timeout=5s]}.
 *
 * @param hosts each with its port
 * @param timeout how long a command may go without an answer
 */
record MemcachedUrl(List<String> hosts, Duration timeout) {
    static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final String PORT = ":11211";
    private static final int HIGHEST_PORT = 65_535;
    private static final String GOOD_URLS =
            "write memcached://host:11211, or memcached://host1:11211,host2:11211?timeout=5s";
    private static final Pattern URL =
            Pattern.compile("memcached://([^@/?#]+)/?(?:\\?([^#]*))?", Pattern.CASE_INSENSITIVE);
    private static final Pattern HOST = Pattern.compile("(?:[\\w.-]+|\\[[0-9A-Fa-f:.%]+])(:(\\d{1,5}))?");
    private static final Pattern TIME = Pattern.compile("timeout=(\\d{1,6})(ms|s)");

    /**
     * Takes a URL apart.
     *
     * @throws IllegalArgumentException if it is malformed; the message says how a good one is written
     */
    static MemcachedUrl parse(String url) {
        Matcher parts = URL.matcher(url);
        if (!parts.matches()) {
            throw new IllegalArgumentException(
                    "not a Memcached URL, which has servers alone, no user, password or" + " path; " + GOOD_URLS);
        }
        List<String> hosts = new ArrayList<>();
        for (String host : parts.group(1).split(",", -1)) {
            Matcher named = HOST.matcher(host);
            if (!named.matches() || !isPort(named.group(2))) {
                throw new IllegalArgumentException(
                        "a Memcached URL names servers between commas, with ports from 1 to 65535; " + GOOD_URLS);
            }
            hosts.add(named.group(1) == null ? host + PORT : host);
        }
        return new MemcachedUrl(List.copyOf(hosts), timeout(parts.group(2)));
    }

    /** As messages name the store. */
    String description() {
        return "memcached://" + String.join(",", hosts);
    }

    List<InetSocketAddress> addresses() {
        return hosts.stream()
                .map(host -> {
                    int colon = host.lastIndexOf(':');
                    String bare = host.substring(0, colon).replaceAll("[\\[\\]]", "");
                    return new InetSocketAddress(bare, Integer.parseInt(host.substring(colon + 1)));
                })
                .toList();
    }

    private static Duration timeout(@Nullable String query) {
        if (query == null || query.isEmpty()) {
            return TIMEOUT;
        }
        Matcher time = TIME.matcher(query);
        long amount = time.matches() ? Long.parseLong(time.group(1)) : 0;
        Duration timeout =
                amount > 0 && time.group(2).equals("ms") ? Duration.ofMillis(amount) : Duration.ofSeconds(amount);
        if (timeout.isZero() || timeout.compareTo(Duration.ofHours(1)) > 0) {
            throw new IllegalArgumentException("a Memcached URL takes the parameter timeout alone, a time of up to an"
                    + " hour such as 500ms or 5s; " + GOOD_URLS);
        }
        return timeout;
    }

    private static boolean isPort(@Nullable String number) {
        return number == null || (Integer.parseInt(number) > 0 && Integer.parseInt(number) <= HIGHEST_PORT);
    }
}
