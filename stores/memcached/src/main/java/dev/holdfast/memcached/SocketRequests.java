package dev.holdfast.memcached;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.support.Pauses;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.URLDecoder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/**
 * Two requests on a connection of their own: spymemcached does not have the one, and ends its only thread by an odd answer to
 * the other. They block.
 */
final class SocketRequests {
    /** By the hash table, or, in older servers, by the order of use, which may miss what is used meanwhile. */
    private static final List<String> NAME_KEYS = List.of("lru_crawler metadump hash", "lru_crawler metadump all");

    private static final String KEY = "key=";
    private static final int MOST_ATTEMPTS = 10;

    private SocketRequests() {}

    /** Asks each server whether it is Memcached; one of several may be away. */
    static void greet(List<? extends SocketAddress> servers, Duration limit, Errors errors) {
        boolean interrupted = Thread.interrupted(); // which would close the socket of a virtual thread
        List<StoreUnavailableException> away = new ArrayList<>();
        try {
            for (SocketAddress server : servers) {
                try {
                    String answer = ask(server, limit, "version", line -> false);
                    if (answer.contains("unauthenticated")) {
                        throw errors.refused(
                                "demands a log-in (" + answer + "), which memcached: URLs do not have: give locks a"
                                        + " server without one, in a network of its own",
                                null);
                    }
                    if (!answer.startsWith("VERSION ")) {
                        throw errors.refused(
                                "answers a greeting by '" + answer + "', which Memcached does not: correct the URL",
                                null);
                    }
                } catch (IOException e) {
                    away.add(errors.unavailable(
                            "did not answer a greeting (" + e.getMessage() + "): is it up, can it be reached, is it"
                                    + " Memcached, and does a proxy before it pass on 'version'?",
                            e));
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        if (away.size() == servers.size()) {
            throw away.get(0);
        }
    }

    /** The keys of a server that are wanted; it names all, those of other programs too. */
    static List<String> keys(SocketAddress server, Predicate<String> wanted, Duration limit, Errors errors) {
        Set<String> keys = new LinkedHashSet<>(); // by the order of use, one that is used meanwhile may be named twice
        Predicate<String> named = line -> {
            if (!line.startsWith(KEY)) {
                return false;
            }
            String key = URLDecoder.decode(line.substring(KEY.length(), line.indexOf(' ')), UTF_8);
            if (wanted.test(key)) {
                keys.add(key);
            }
            return true;
        };
        String last = "";
        try {
            for (int attempt = 0, way = 0; attempt < MOST_ATTEMPTS && way < NAME_KEYS.size(); attempt++) {
                try {
                    last = ask(server, limit, NAME_KEYS.get(way), named);
                } catch (EOFException e) {
                    if (!keys.isEmpty()) {
                        throw e;
                    }
                    last = "it closed the connection"; // as some proxies do at a command that they do not know
                }
                if (last.equals("END")) {
                    return List.copyOf(keys);
                }
                if (last.startsWith("BUSY")) { // it names its keys to one client at a time
                    LockSupport.parkNanos(Pauses.beforeRetry(attempt));
                } else {
                    way++;
                }
            }
        } catch (IOException e) {
            throw errors.unavailable("did not name its keys at " + server + ": " + e.getMessage(), e);
        }
        throw last.startsWith("BUSY")
                ? errors.unavailable("names its keys to others (" + last + "): try again", null)
                : errors.refused(
                        "does not name its keys (" + last + "), so that its locks cannot be listed, only asked for by"
                                + " name: is it older than 1.4.31, behind a proxy, or started with no_lru_crawler?",
                        null);
    }

    /** Sends a line and reads lines as long as they are wanted; the first that is not. */
    private static String ask(SocketAddress server, Duration limit, String request, Predicate<String> wanted)
            throws IOException {
        try (Socket socket = new Socket()) {
            int millis = Math.toIntExact(limit.toMillis());
            socket.connect(server, millis);
            socket.setSoTimeout(millis);
            socket.getOutputStream().write((request + "\r\n").getBytes(US_ASCII));
            BufferedReader answers = new BufferedReader(new InputStreamReader(socket.getInputStream(), US_ASCII));
            while (true) {
                String line = answers.readLine();
                if (line == null) {
                    throw new EOFException("the connection was closed");
                }
                if (!wanted.test(line)) {
                    return line;
                }
            }
        }
    }
}
