package dev.holdfast.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.LockStatus;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Function;

/**
 * Finds locks by SCAN, and asks for the status of each: the one request whose cost grows with the size of the database.
 * It goes page by page, and asks for the next few statuses when it has the ones before: other requests of this or other
 * clients run in between. A lock that is acquired or released meanwhile may be listed or not. Thread-safe.
 */
final class Listing {
    /** How many keys the server checks in one step: a fraction of a millisecond. */
    private static final int STEP = 1_000;
    /** How many statuses are asked for together. */
    static final int CHUNK = 64;

    private final ScriptSender sender;
    private final Scripts scripts;

    Listing(ScriptSender sender, Scripts scripts) {
        this.sender = sender;
        this.scripts = scripts;
    }

    CompletableFuture<List<LockStatus>> of(String prefix) {
        Walk walk = new Walk(ScanArgs.Builder.limit(STEP).match(LockKeys.pattern(prefix), UTF_8));
        return sender.keyPages()
                .thenCompose(servers -> oneByOne(servers, server -> walk.from(server, ScanCursor.INITIAL)))
                .thenApply(done -> List.copyOf(walk.known.values()))
                .toCompletableFuture();
    }

    /** Runs a task for each server, each once the task before is done. */
    static CompletableFuture<Void> oneByOne(
            List<ScriptSender.KeyPages> servers, Function<ScriptSender.KeyPages, CompletableFuture<Void>> task) {
        CompletableFuture<Void> all = CompletableFuture.completedFuture(null);
        for (ScriptSender.KeyPages server : servers) {
            all = all.thenCompose(done -> task.apply(server));
        }
        return all;
    }

    /** One list in the making; each step begins when the one before is done. */
    private final class Walk {
        final Map<String, LockStatus> known = new ConcurrentSkipListMap<>();
        private final Set<String> seen = ConcurrentHashMap.newKeySet();
        private final ScanArgs args;

        Walk(ScanArgs args) {
            this.args = args;
        }

        CompletableFuture<Void> from(ScriptSender.KeyPages server, ScanCursor cursor) {
            return server.scan(cursor, args).thenCompose(page -> {
                List<String> found = new ArrayList<>();
                for (byte[] key : page.getKeys()) {
                    String name = LockKeys.name(new String(key, UTF_8));
                    if (seen.add(name)) { // a server may name a key twice, and two servers a key that moves
                        found.add(name);
                    }
                }
                CompletableFuture<Void> listed = statuses(found);
                return page.isFinished() ? listed : listed.thenCompose(done -> from(server, page));
            });
        }

        private CompletableFuture<Void> statuses(List<String> names) {
            if (names.isEmpty()) {
                return CompletableFuture.completedFuture(null);
            }
            int some = Math.min(CHUNK, names.size());
            return CompletableFuture.allOf(names.subList(0, some).stream()
                            .map(name -> statusOf(name).thenAccept(this::keep))
                            .toArray(CompletableFuture<?>[]::new))
                    .thenCompose(done -> statuses(names.subList(some, names.size())));
        }

        /** One foreign record does not hide the others. */
        private CompletableFuture<LockStatus> statusOf(String name) {
            return scripts.status(name).exceptionally(failure -> {
                if (RedisErrors.isOfRecord(failure)) {
                    return LockStatus.unreadable(name);
                }
                throw new CompletionException(RedisErrors.unwrapped(failure));
            });
        }

        private void keep(LockStatus status) {
            if (status.isHeld() || status.waiting() > 0) {
                known.put(status.name(), status);
            }
        }
    }
}
