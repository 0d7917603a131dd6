package dev.holdfast.zookeeper;

import dev.holdfast.spi.RecordReading;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.StoredRecord;
import dev.holdfast.spi.support.StoredToken;
import dev.holdfast.zookeeper.Session.Found;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The records, one node each under {@code /holdfast/records}, in buckets that the servers remove when they are empty. A node
 * has as text its token, how long it is kept in milliseconds, and the value; its time of modification, by the clock of the
 * leading server, is when it was written, and the zxid of that change is its revision: zxids rise over the servers' life,
 * also when the node was removed. A record is changed only over the version that was read.
 *
 * <p>The servers report their clock only in the answer to a write. So each reading first writes an empty text to the node
 * above all records, and reads after it: what it reads is then no older than that. Thread-safe.
 */
final class RecordNodes {
    private static final Pattern TEXT = Pattern.compile("(\\d+) (\\d{1,18}) (.*)", Pattern.DOTALL);
    private static final int WRITES_PER_PURGE = 4;

    private final ZooKeeperContext context;
    private final Buckets buckets;

    RecordNodes(ZooKeeperContext context) {
        this.context = context;
        this.buckets = new Buckets(context);
    }

    /**
     * A node as it was read.
     *
     * @param version of the node; -1 if there is none
     * @param stored what it says; null if there is none, or its time has passed
     * @param foreign whether it was not written by Holdfast; then {@code stored} has its text as it is
     */
    private record State(Instant now, int version, @Nullable StoredRecord stored, boolean foreign) {}

    CompletableFuture<RecordReading> read(String name) {
        return connected(session ->
                own(session, name).thenApply(at -> new RecordReading(at.now, Optional.ofNullable(at.stored))));
    }

    CompletableFuture<Optional<StoredRecord>> write(RecordWrite write) {
        return connected(session -> write(session, write).thenApply(written -> {
            if (written.isPresent() && ThreadLocalRandom.current().nextInt(WRITES_PER_PURGE) == 0) {
                purge(
                        session,
                        context.paths().recordBucket(write.name()),
                        written.get().writtenAt());
            }
            return written;
        }));
    }

    private CompletableFuture<Optional<StoredRecord>> write(Session session, RecordWrite write) {
        return own(session, write.name()).thenCompose(at -> {
            StoredRecord last = at.stored;
            long revision = last == null ? RecordWrite.ABSENT : last.revision();
            boolean expected = write.revision() == RecordWrite.ANY || write.revision() == revision;
            if (!expected || last != null && last.token() > write.token()) {
                return CompletableFuture.completedFuture(Optional.empty());
            }
            String text = write.token() + " " + write.keepMillis() + " " + write.value();
            return put(session, write.name(), at.version, text).thenCompose(put -> answered(session, write, at, put));
        });
    }

    private CompletableFuture<Optional<StoredRecord>> answered(
            Session session, RecordWrite write, State at, Found put) {
        String path = context.paths().record(write.name());
        return switch (put.code()) {
            case OK -> {
                Stat stat = put.stat();
                if (stat == null) {
                    throw context.errors().of(Code.MARSHALLINGERROR, path);
                }
                yield CompletableFuture.completedFuture(
                        Optional.of(stored(write.name(), write.token(), stat, write.value())));
            }
            case BADVERSION, NODEEXISTS, NONODE -> // changed since it was read; a node of the past may just be purged
                write.revision() == RecordWrite.ANY || at.version >= 0 && at.stored == null
                        ? write(session, write)
                        : CompletableFuture.completedFuture(Optional.empty());
            default -> throw context.errors().of(put.code(), path);
        };
    }

    private CompletableFuture<Found> put(Session session, String name, int version, String text) {
        String path = context.paths().record(name);
        return version >= 0
                ? session.write(path, text, version)
                : session.create(path, text, context.acl(path), CreateMode.PERSISTENT)
                        .thenCompose(made -> made.code() == Code.NONODE
                                ? make(session, context.paths().recordBucket(name), CreateMode.CONTAINER)
                                        .thenCompose(bucket -> put(session, name, version, text))
                                : CompletableFuture.completedFuture(made));
    }

    private CompletableFuture<State> own(Session session, String name) {
        return clock(session).thenCompose(now -> state(session, name, now)).thenApply(at -> {
            if (at.foreign) {
                String path = context.paths().record(name);
                throw context.errors()
                        .refused("has a node " + path + " that is no record of Holdfast's: remove it", null);
            }
            return at;
        });
    }

    private CompletableFuture<State> state(Session session, String name, Instant now) {
        String path = context.paths().record(name);
        return session.read(path).thenApply(read -> {
            Stat stat = read.stat();
            if (read.code() == Code.NONODE) {
                return new State(now, -1, null, false);
            }
            if (read.code() != Code.OK || stat == null) {
                throw context.errors().of(read.code(), path);
            }
            Matcher says = TEXT.matcher(read.text());
            OptionalLong token = says.matches() ? StoredToken.of(says.group(1)) : OptionalLong.empty();
            if (token.isEmpty()) {
                StoredRecord foreign = new StoredRecord(name, 0, 0, written(stat), read.text());
                return new State(now, stat.getVersion(), foreign, true);
            }
            long keep = Long.parseLong(says.group(2));
            boolean over = keep == 0 || stat.getMtime() + keep <= now.toEpochMilli();
            StoredRecord stored = over ? null : stored(name, token.getAsLong(), stat, says.group(3));
            return new State(now, stat.getVersion(), stored, false);
        });
    }

    private static StoredRecord stored(String name, long token, Stat stat, String value) {
        return new StoredRecord(name, token, stat.getMzxid(), written(stat), value);
    }

    private static Instant written(Stat stat) {
        return Instant.ofEpochMilli(stat.getMtime());
    }

    private CompletableFuture<Instant> clock(Session session) {
        String path = context.paths().records();
        return session.write(path, "").thenCompose(touched -> {
            Stat stat = touched.stat();
            if (touched.code() == Code.NONODE) {
                return make(session, path, CreateMode.PERSISTENT).thenCompose(made -> clock(session));
            }
            if (touched.code() != Code.OK || stat == null) {
                throw context.errors().of(touched.code(), path);
            }
            return CompletableFuture.completedFuture(written(stat));
        });
    }

    private CompletableFuture<Boolean> make(Session session, String path, CreateMode mode) {
        return session.create(path, "", context.acl(path), mode).thenApply(made -> {
            if (made.code() != Code.OK && made.code() != Code.NODEEXISTS) {
                throw context.errors().of(made.code(), path);
            }
            return true;
        });
    }

    /** Bucket by bucket, few requests at a time. Writes nothing where no record was ever read or written. */
    CompletableFuture<List<StoredRecord>> list(String prefix) {
        CompletableFuture<Session> opened = new CompletableFuture<>();
        context.connection().whenConnected(opened, opened::complete);
        return context.limited(opened).thenCompose(session -> {
            session.sync(context.paths().locks());
            return context.limited(session.exists(context.paths().records()))
                    .thenCompose(found -> found.code() == Code.NONODE
                            ? CompletableFuture.completedFuture(List.of())
                            : list(session, prefix));
        });
    }

    private CompletableFuture<List<StoredRecord>> list(Session session, String prefix) {
        return context.limited(clock(session))
                .thenCompose(now -> buckets.names(session, context.paths().records(), prefix)
                        .thenCompose(names ->
                                ThrottledRequests.ask(names, name -> context.limited(state(session, name, now))))
                        .thenApply(states -> states.stream()
                                .flatMap(at -> Optional.ofNullable(at.stored).stream())
                                .toList()));
    }

    /** No caller waits for it; a failed removal is tried again after other writes. */
    private void purge(Session session, String bucket, Instant now) {
        buckets.nodes(session, bucket)
                .thenCompose(nodes -> ThrottledRequests.ask(
                        nodes, node -> purge(session, Paths.decode(node), bucket + "/" + node, now)))
                .exceptionally(failure -> List.of());
    }

    /** A node that cannot be read does not keep the others from being removed. */
    private CompletableFuture<Boolean> purge(Session session, String name, String path, Instant now) {
        return state(session, name, now)
                .thenCompose(at -> at.stored == null && at.version >= 0
                        ? session.delete(path, at.version).thenApply(code -> code == Code.OK)
                        : CompletableFuture.completedFuture(false))
                .exceptionally(unreadable -> false);
    }

    @FunctionalInterface
    private interface Asked<T> {
        CompletableFuture<T> of(Session session);
    }

    private <T> CompletableFuture<T> connected(Asked<T> question) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        context.connection()
                .whenConnected(
                        answer,
                        session -> question.of(session).whenComplete((value, failure) -> {
                            if (failure == null) {
                                answer.complete(value);
                            } else {
                                answer.completeExceptionally(Errors.unwrapped(failure));
                            }
                        }));
        return answer;
    }
}
