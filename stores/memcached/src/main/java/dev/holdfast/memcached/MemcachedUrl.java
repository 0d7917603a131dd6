package dev.holdfast.memcached;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import net.spy.memcached.AddrUtil;

/**
 * A URL of Memcached servers, taken apart: {@code memcached://HOST[:PORT],HOST[:PORT]…[?timeout=5s]}.
 *
 * @param hosts each with its port
 * @param timeout how long a command may go without an answer
 */
record MemcachedUrl(List<String> hosts, Duration timeout) {
    static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final String HOST = "(?:[\\w.-]+|\\[[0-9A-Fa-f:.%]+])(?::\\d{1,5})?";
    private static final Pattern URL = Pattern.compile(
            "memcached://(" + HOST + "(?:," + HOST + ")*)/?(?:\\?(?:timeout=([1-9]\\d{0,3})s)?)?",
            Pattern.CASE_INSENSITIVE);
    private static final int HIGHEST_PORT = 65_535;

    /**
     * Takes a URL apart.
     *
     * @throws IllegalArgumentException if it is malformed; the message says how a good one is written
     */
    static MemcachedUrl parse(String url) {
        Matcher parts = URL.matcher(url);
        if (parts.matches()) {
            List<String> hosts = Stream.of(parts.group(1).split(","))
                    .map(host -> host.matches(".*:\\d+") ? host : host + ":11211")
                    .toList();
            if (hosts.stream().allMatch(MemcachedUrl::hasPort)) {
                String timeout = parts.group(2);
                return new MemcachedUrl(hosts, timeout == null ? TIMEOUT : Duration.ofSeconds(Long.parseLong(timeout)));
            }
        }
        throw new IllegalArgumentException(
                "a Memcached URL has servers between commas, with ports from 1 to 65535, no user,"
                        + " password or path, and no parameter but a timeout in seconds;"
                        + " write memcached://host:11211, or memcached://host1:11211,host2:11211?timeout=5s");
    }

    private static boolean hasPort(String host) {
        int port = Integer.parseInt(host.substring(host.lastIndexOf(':') + 1));
        return port > 0 && port <= HIGHEST_PORT;
    }

    /** As messages name the store. */
    String description() {
        return "memcached://" + String.join(",", hosts);
    }

    List<InetSocketAddress> addresses() {
        return AddrUtil.getAddresses(hosts);
    }
}
