package dev.holdfast.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.spi.RecordReading;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.StoredRecord;
import dev.holdfast.spi.support.StoredToken;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The records, one key each, with a lease of their own that removes them some time after they count as absent. A value is
 * the token, how long it is kept and when it was written, in milliseconds, and the text; the revision of its last change is
 * the record's. A record is changed only over the revision that was read.
 *
 * <p>etcd tells no time, so that the clocks of the clients decide when a record was written and until when it is kept; a
 * clock behind that of the last write counts as that.
 *
 * <p>A write without an answer may be carried out at any time later: where there is no record, nothing else would refuse it.
 * As a claim does in its {@link Session}, it demands that the epoch key of its lease is not there, and that key is written
 * after a lost answer. Thread-safe.
 */
final class Records {
    private static final Pattern TEXT = Pattern.compile("(\\d+) (\\d{1,18}) (\\d{1,18}) (.*)", Pattern.DOTALL);
    private static final long LONGEST_SECONDS = 8_000_000_000L;
    private static final long SLACK_SECONDS = 3_600;

    private final EtcdContext context;

    Records(EtcdContext context) {
        this.context = context;
    }

    /**
     * A key as it was read.
     *
     * @param modified its revision; 0 if there is none
     * @param stored what it says; null if there is none, or its time has passed
     */
    private record State(
            Instant now,
            long modified,
            long lease,
            @Nullable StoredRecord stored) {}

    CompletableFuture<RecordReading> read(String name) {
        return state(name).thenApply(at -> new RecordReading(at.now, Optional.ofNullable(at.stored)));
    }

    private CompletableFuture<State> state(String name) {
        ByteSequence key = context.keys().record(name);
        return context.requests().get(key, GetOption.DEFAULT).thenApply(read -> {
            Instant now = Instant.ofEpochMilli(context.time().wallMillis());
            return read.getKvs().stream()
                    .findFirst()
                    .map(kv -> state(kv, now)
                            .orElseThrow(() -> context.errors()
                                    .refused(
                                            "has a key " + key.toString(UTF_8) + " that is no record of Holdfast's:"
                                                    + " remove it",
                                            null)))
                    .orElse(new State(now, 0, 0, null));
        });
    }

    /** Empty if it is no record. */
    private Optional<State> state(KeyValue kv, Instant now) {
        Matcher text = TEXT.matcher(kv.getValue().toString(UTF_8));
        OptionalLong token = text.matches() ? StoredToken.of(text.group(1)) : OptionalLong.empty();
        if (token.isEmpty()) {
            return Optional.empty();
        }
        Instant written = Instant.ofEpochMilli(Long.parseLong(text.group(3)));
        Instant then = now.isBefore(written) ? written : now;
        boolean over = !then.isBefore(written.plusMillis(Long.parseLong(text.group(2))));
        StoredRecord stored = new StoredRecord(
                kv.getKey().toString(UTF_8).substring(context.keys().records().length()),
                token.getAsLong(),
                kv.getModRevision(),
                written,
                text.group(4));
        return Optional.of(new State(then, kv.getModRevision(), kv.getLease(), over ? null : stored));
    }

    CompletableFuture<Optional<StoredRecord>> write(RecordWrite write) {
        return state(write.name()).thenCompose(at -> {
            StoredRecord last = at.stored;
            long revision = last == null ? RecordWrite.ABSENT : last.revision();
            boolean expected = write.revision() == RecordWrite.ANY || write.revision() == revision;
            if (!expected || last != null && last.token() > write.token()) {
                return CompletableFuture.completedFuture(Optional.empty());
            }
            return write.keep().isZero() ? put(write, at, 0) : kept(write, at);
        });
    }

    private CompletableFuture<Optional<StoredRecord>> kept(RecordWrite write, State at) {
        long seconds = Math.min(LONGEST_SECONDS, write.keep().toSeconds() + SLACK_SECONDS);
        return context.requests()
                .grantLease(seconds)
                .thenCompose(lease -> put(write, at, lease.getID()).whenComplete((put, failure) -> {
                    if (failure != null && Errors.isDefinite(context.requests().why(failure))) {
                        end(lease.getID());
                    } else if (failure != null) {
                        settle(write.name(), lease.getID(), at.lease);
                    }
                }));
    }

    /** Makes void a write without an answer, unless it was carried out; and ends the lease that is of no use. */
    private void settle(String name, long lease, long before) {
        List<Op> raiseAndRead = List.of(
                Op.put(context.keys().session(lease), ByteSequence.EMPTY, in(lease)),
                Op.get(context.keys().record(name), GetOption.DEFAULT));
        context.requests().txn(List.of(), raiseAndRead, List.of()).whenComplete((settled, failure) -> {
            if (failure == null) {
                boolean written =
                        settled.getGetResponses().get(0).getKvs().stream().anyMatch(kv -> kv.getLease() == lease);
                end(written ? before : lease);
            } else if (!Errors.isDefinite(context.requests().why(failure))
                    && !context.requests().haveEnded()) {
                context.requests().later(() -> settle(name, lease, before));
            }
        });
    }

    /** Nobody waits for that; 0 is none. */
    private void end(long lease) {
        if (lease != 0) {
            Object unused = context.requests().revoke(lease);
        }
    }

    private static PutOption in(long lease) {
        return PutOption.builder().withLeaseId(lease).build();
    }

    /** Writes or, without a lease, deletes it. The lease that is of no use afterwards is ended. */
    private CompletableFuture<Optional<StoredRecord>> put(RecordWrite write, State at, long lease) {
        ByteSequence key = context.keys().record(write.name());
        String text = write.token() + " " + write.keepMillis() + " " + at.now.toEpochMilli() + " " + write.value();
        Op change = lease == 0 ? Op.delete(key, DeleteOption.DEFAULT) : Op.put(key, Keys.bytes(text), in(lease));
        List<Cmp> ifs = new ArrayList<>(List.of(new Cmp(key, Cmp.Op.EQUAL, CmpTarget.modRevision(at.modified))));
        if (lease != 0) {
            ifs.add(new Cmp(context.keys().session(lease), Cmp.Op.EQUAL, CmpTarget.version(0)));
        }
        return context.requests().txn(ifs, List.of(change), List.of()).thenCompose(put -> {
            end(put.isSucceeded() ? at.lease : lease);
            if (put.isSucceeded()) {
                return CompletableFuture.completedFuture(Optional.of(new StoredRecord(
                        write.name(), write.token(), put.getHeader().getRevision(), at.now, write.value())));
            }
            // changed since it was read; a record of the past may just have been removed
            return write.revision() == RecordWrite.ANY || at.modified > 0 && at.stored == null
                    ? write(write)
                    : CompletableFuture.completedFuture(Optional.empty());
        });
    }

    CompletionStage<List<StoredRecord>> list(String prefix) {
        Instant now = Instant.ofEpochMilli(context.time().wallMillis());
        return Inspection.keys(context, context.keys().records(), prefix)
                .thenApply(found -> found.stream()
                        .map(kv -> state(kv, now).map(State::stored).orElse(null))
                        .filter(Objects::nonNull)
                        .sorted(Comparator.comparing(StoredRecord::name))
                        .toList());
    }
}
