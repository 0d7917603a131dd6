package dev.holdfast.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.LockStatus;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Finds locks by SCAN, and asks for the status of each: the one request whose cost grows with what the database holds. A
 * lock that comes or goes meanwhile may be told of or not. Thread-safe.
 */
final class Listing {
    private static final int STEP = 1_000;

    private final StatefulRedisConnection<byte[], byte[]> connection;
    private final Scripts scripts;

    Listing(StatefulRedisConnection<byte[], byte[]> connection, Scripts scripts) {
        this.connection = connection;
        this.scripts = scripts;
    }

    CompletableFuture<List<LockStatus>> of(String prefix) {
        ScanArgs args = ScanArgs.Builder.limit(STEP).match(LockKeys.pattern(prefix), UTF_8);
        return names(ScanCursor.INITIAL, args, new TreeSet<>())
                .thenCompose(this::statuses)
                .toCompletableFuture();
    }

    private CompletionStage<Set<String>> names(ScanCursor from, ScanArgs args, Set<String> found) {
        var scanned = connection.async().scan(from, args);
        return scanned.handle((KeyScanCursor<byte[]> page, Throwable failure) -> {
                    if (failure != null) {
                        throw scripts.errors().of(failure);
                    }
                    page.getKeys().forEach(key -> found.add(LockKeys.name(new String(key, UTF_8))));
                    return page;
                })
                .thenCompose(page ->
                        page.isFinished() ? CompletableFuture.completedFuture(found) : names(page, args, found));
    }

    private CompletionStage<List<LockStatus>> statuses(Set<String> names) {
        List<CompletableFuture<LockStatus>> asked =
                names.stream().map(scripts::status).toList();
        return CompletableFuture.allOf(asked.toArray(CompletableFuture<?>[]::new))
                .thenApply(done -> {
                    List<LockStatus> known = new ArrayList<>(asked.size());
                    for (CompletableFuture<LockStatus> each : asked) {
                        LockStatus status = each.join();
                        if (status.isHeld() || status.waiting() > 0) {
                            known.add(status);
                        }
                    }
                    known.sort(Comparator.comparing(LockStatus::name));
                    return known;
                });
    }
}
