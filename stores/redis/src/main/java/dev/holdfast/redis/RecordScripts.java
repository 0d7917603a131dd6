package dev.holdfast.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.spi.RecordReading;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.StoredRecord;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * The records, one key each in the slot of its lock; {@code record_write.lua} describes what is stored. Thread-safe.
 */
final class RecordScripts {
    private static final int STEP = 1_000;
    private static final int FIELDS = 4;

    private final ScriptSender sender;

    RecordScripts(ScriptSender sender) {
        this.sender = sender;
    }

    CompletableFuture<RecordReading> read(String name) {
        return sender.ask(ScriptCall.record(Script.READ_RECORD, name, List.of()))
                .thenApply(said -> {
                    int end = said.text().indexOf(' ');
                    Instant now = moment(end < 0 ? said.text() : said.text().substring(0, end));
                    return new RecordReading(
                            now,
                            end < 0
                                    ? Optional.empty()
                                    : Optional.of(stored(name, said.text().substring(end + 1))));
                });
    }

    CompletableFuture<Optional<StoredRecord>> write(RecordWrite write) {
        List<String> args = List.of(
                Long.toString(write.token()),
                Long.toString(write.revision()),
                write.value(),
                Long.toString(write.keepMillis()));
        return sender.ask(ScriptCall.record(Script.WRITE_RECORD, write.name(), args))
                .thenApply(said -> said.text().equals("-")
                        ? Optional.empty()
                        : Optional.of(stored(write.name(), said.text() + " " + write.value())));
    }

    /** By SCAN, page by page; a record that is written or removed meanwhile may be listed or not. */
    CompletableFuture<List<StoredRecord>> list(String prefix) {
        ScanArgs args = ScanArgs.Builder.limit(STEP).match(LockKeys.recordPattern(prefix), UTF_8);
        Map<String, StoredRecord> known = new ConcurrentSkipListMap<>();
        return sender.keyPages()
                .thenCompose(
                        servers -> Listing.oneByOne(servers, server -> from(server, ScanCursor.INITIAL, args, known)))
                .thenApply(done -> List.copyOf(known.values()))
                .toCompletableFuture();
    }

    private CompletableFuture<Void> from(
            ScriptSender.KeyPages server, ScanCursor cursor, ScanArgs args, Map<String, StoredRecord> known) {
        return server.scan(cursor, args).thenCompose(page -> {
            List<String> names = new ArrayList<>();
            page.getKeys().forEach(key -> names.add(LockKeys.recordName(new String(key, UTF_8))));
            CompletableFuture<Void> listed = readings(names, known);
            return page.isFinished() ? listed : listed.thenCompose(done -> from(server, page, args, known));
        });
    }

    private CompletableFuture<Void> readings(List<String> names, Map<String, StoredRecord> known) {
        if (names.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        int some = Math.min(Listing.CHUNK, names.size());
        return CompletableFuture.allOf(names.subList(0, some).stream()
                        .map(name -> readable(name).thenAccept(found -> keep(found, known)))
                        .toArray(CompletableFuture<?>[]::new))
                .thenCompose(done -> readings(names.subList(some, names.size()), known));
    }

    /** A value of another program does not hide the records: it is listed as a record that is unreadable. */
    private CompletableFuture<Optional<StoredRecord>> readable(String name) {
        return read(name).thenApply(RecordReading::stored).exceptionally(failure -> {
            if (RedisErrors.isOfRecord(failure)) {
                return Optional.of(new StoredRecord(name, 0, 0, Instant.EPOCH, ""));
            }
            throw new CompletionException(RedisErrors.unwrapped(failure));
        });
    }

    private static void keep(Optional<StoredRecord> found, Map<String, StoredRecord> known) {
        found.ifPresent(stored -> known.put(stored.name(), stored));
    }

    private static StoredRecord stored(String name, String text) {
        String[] field = text.split(" ", FIELDS);
        return new StoredRecord(name, Long.parseLong(field[0]), Long.parseLong(field[1]), moment(field[2]), field[3]);
    }

    private static Instant moment(String micros) {
        return Instant.EPOCH.plusNanos(Math.multiplyExact(Long.parseLong(micros), 1_000L));
    }
}
