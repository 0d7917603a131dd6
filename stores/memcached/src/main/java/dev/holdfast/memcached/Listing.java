package dev.holdfast.memcached;

import dev.holdfast.HoldfastException;
import dev.holdfast.LockStatus;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.DaemonThreads;
import dev.holdfast.spi.support.Pauses;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import net.spy.memcached.MemcachedNode;
import org.jspecify.annotations.Nullable;

/**
 * The locks of all servers: a server has no index of them, so that it names all its keys, those of others too, on a
 * connection of its own; then the values of those that may be locks are read. Thread-safe.
 */
final class Listing {
    /** By the hash table, or, before Memcached 1.6.?, by the order of use, which may miss what is used meanwhile. */
    private static final List<String> QUESTIONS = List.of("lru_crawler metadump hash", "lru_crawler metadump all");

    private static final String KEY = "key=";
    private static final int AT_ONCE = 1_000;

    private final Commands commands;
    private final TimeSource time;
    private final Duration limit;
    private final Errors errors;

    Listing(Commands commands, TimeSource time, Duration limit, Errors errors) {
        this.commands = commands;
        this.time = time;
        this.limit = limit;
        this.errors = errors;
    }

    /** Sorted by name. On a thread of its own, as it reads from sockets. */
    CompletableFuture<List<LockStatus>> list(String prefix) {
        CompletableFuture<List<LockStatus>> answer = new CompletableFuture<>();
        DaemonThreads.daemon("holdfast-memcached-list", () -> {
                    try {
                        Map<String, LockStatus> found = new TreeMap<>(Comparator.naturalOrder());
                        for (MemcachedNode server : commands.servers()) {
                            read(server, keys(server), prefix, found);
                        }
                        answer.complete(List.copyOf(found.values()));
                    } catch (Throwable failure) {
                        answer.completeExceptionally(Errors.unwrapped(failure));
                    }
                })
                .start();
        return answer;
    }

    private void read(MemcachedNode server, List<String> keys, String prefix, Map<String, LockStatus> found) {
        for (int from = 0; from < keys.size(); from += AT_ONCE) {
            keys.subList(from, Math.min(from + AT_ONCE, keys.size())).stream()
                    .map(key -> commands.gets(server, key))
                    .toList()
                    .forEach(answer -> add(answer.join(), prefix, found));
        }
    }

    private void add(Commands.@Nullable Item item, String prefix, Map<String, LockStatus> found) {
        StoredLock lock = item == null ? null : StoredLock.read(item.value());
        if (item != null && lock != null && lock.name().startsWith(prefix)) {
            found.put(lock.name(), lock.status(item.cas(), time.wallMillis()));
        }
    }

    private List<String> keys(MemcachedNode server) {
        try (Dialogue server2 = Dialogue.with(server.getSocketAddress(), limit)) {
            long until = time.nanoTime() + limit.toNanos();
            for (int question = 0, busy = 0; ; ) {
                List<String> keys = new ArrayList<>();
                String last = server2.ask(QUESTIONS.get(question), line -> {
                    if (!line.startsWith(KEY)) {
                        return false;
                    }
                    String key =
                            URLDecoder.decode(line.substring(KEY.length(), line.indexOf(' ')), StandardCharsets.UTF_8);
                    if (StoredLock.isKey(key)) {
                        keys.add(key);
                    }
                    return true;
                });
                if (last.equals("END")) {
                    return keys;
                }
                if (last.startsWith("BUSY") && until - time.nanoTime() > 0) {
                    LockSupport.parkNanos(Pauses.beforeRetry(busy++));
                } else if (++question == QUESTIONS.size()) {
                    throw notListed(last);
                }
            }
        } catch (IOException e) {
            throw errors.unavailable("did not name its keys: " + e.getMessage(), e);
        }
    }

    private HoldfastException notListed(String last) {
        return last.startsWith("BUSY")
                ? errors.unavailable("names its keys to others (" + last + "): try again", null)
                : errors.refused(
                        "does not name its keys (" + last + "), so that its locks cannot be listed, only asked for by"
                                + " name: is it older than 1.4.31, behind a proxy, or started with no_lru_crawler?",
                        null);
    }
}
