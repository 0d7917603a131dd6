package dev.holdfast.redis;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * One server of a quorum. A call fails at once while the server is not connected, and when its connection breaks: no
 * call is repeated on the next connection, since the other members decide without it.
 *
 * <pre>
 *   connect ──► INFO: run id ──► greet ──► known: ready
 *      ▲                          │ new, or started again since the last greeting
 *      │                          ├──► ask the others for the longest lease ──► sits out for so long: ready, and refuses claims
 *      │                          └──► too few of them answer: ready, refuses claims, and is greeted again
 *      └── the connection broke
 * </pre>
 *
 * <p>No call is sent before the server was greeted on that connection, and an answer on a later one does not count. A
 * server that was started again has lost all its connections, so every client notices before it claims there.
 * Thread-safe.
 */
final class QuorumMember implements PipelineEvents, AutoCloseable {
    private static final Duration AGAIN = Duration.ofMillis(250);
    private static final int EARLY_ENDS = 2;
    private static final String UNKNOWN = "-";

    private final QuorumMembers members;
    private final int index;
    private final RedisClient client;
    private final RedisURI uri;
    private final Settings settings;
    private final RedisErrors errors;
    private final MemberSender sender = new MemberSender(this);
    private final Scripts scripts;
    private final Listing listing;
    private final CompletableFuture<ServerCheck> first = new CompletableFuture<>();
    private final AtomicBoolean greeting = new AtomicBoolean();
    private volatile @Nullable ScriptPipeline pipeline;
    /** The number of the last connection on which it was greeted. */
    private final AtomicLong greeted = new AtomicLong();
    /** Too few other members have answered yet to decide how long it has to sit out. */
    private volatile boolean inDoubt;

    private volatile String runId = "";
    private volatile long longestMillis;
    private volatile RuntimeException whyNot;
    private volatile @Nullable RuntimeException closed;

    QuorumMember(QuorumMembers members, int index, RedisClient client, RedisURI uri, Settings settings) {
        this.members = members;
        this.index = index;
        this.client = client;
        this.uri = uri;
        this.settings = settings;
        this.errors = new RedisErrors(RedisUrl.describe(uri));
        this.scripts = new Scripts(sender, errors, settings.time());
        this.listing = new Listing(sender, scripts);
        this.whyNot = new StoreUnavailableException(errors.store() + " is not connected yet");
    }

    /** Its place among the members. */
    int index() {
        return index;
    }

    RedisURI uri() {
        return uri;
    }

    String runId() {
        return runId;
    }

    void setRunId(String process) {
        runId = process;
    }

    /** Whether it was greeted on the present connection. */
    boolean isReady() {
        ScriptPipeline all = pipeline;
        return closed == null && all != null && all.isConnected() && all.connectionNumber() == greeted.get();
    }

    Scripts scripts() {
        return scripts;
    }

    Listing listing() {
        return listing;
    }

    // ---- connecting ----

    /** Connects, and again for as long as it takes; the returned future reports the first attempt alone. */
    CompletableFuture<ServerCheck> connect() {
        connect(EARLY_ENDS);
        return first;
    }

    private void connect(int earlyEnds) {
        if (closed != null) {
            return;
        }
        try {
            client.connectAsync(ByteArrayCodec.INSTANCE, uri).whenComplete((made, failure) -> {
                if (failure == null) {
                    connected(made);
                } else if (earlyEnds > 0 && RedisErrors.endedEarly(failure)) {
                    connect(earlyEnds - 1);
                } else {
                    notReady(errors.ofConnecting(RedisErrors.unwrapped(failure), uri.isSsl()));
                    members.later(() -> connect(EARLY_ENDS), AGAIN);
                }
            });
        } catch (RuntimeException e) {
            notReady(errors.of(e)); // the client was shut down
        }
    }

    private void connected(StatefulRedisConnection<byte[], byte[]> made) {
        ScriptPipeline all = new ScriptPipeline(made, settings.time(), settings.timeout(), errors, Acks.NONE);
        all.tell(this);
        pipeline = all;
        ServerCheck.loadScripts(made);
        Script.OF_QUORUM.forEach(script -> made.async().scriptLoad(script.body()));
        if (closed != null) {
            made.closeAsync();
        } else {
            greet();
        }
    }

    @Override
    public void connected() {
        greet();
    }

    @Override
    public void disconnected() {
        ScriptPipeline broken = pipeline;
        boolean was = broken != null && broken.connectionNumber() == greeted.get();
        runId = ""; // another member's URL may lead to that server next
        whyNot = new StoreUnavailableException("the connection to " + errors.store() + " broke");
        if (broken != null) {
            broken.forget(whyNot);
        }
        if (was) {
            members.gone();
        }
    }

    @Override
    public void shutDown(RuntimeException why) {
        close(why);
        members.shutDown(why);
    }

    private void notReady(RuntimeException why) {
        whyNot = why;
        first.completeExceptionally(why);
    }

    /** Learns which server this is now, and whether it may take part. */
    private void greet() {
        ScriptPipeline all = pipeline;
        if (all == null) {
            return;
        }
        long connection = all.connectionNumber();
        ServerCheck.ask(all.connection(), all::moveToThisLoop, errors, settings, ServerCheck.Wanted.QUORUM_MEMBER)
                .thenCompose(this::introduce)
                .whenComplete((check, failure) -> {
                    greeting.set(false);
                    boolean sameConnection = all.isConnected() && all.connectionNumber() == connection;
                    if (closed != null || !sameConnection) {
                        return; // it is greeted on the next connection, where it may be another process
                    }
                    if (failure == null) {
                        if (inDoubt && greeting.compareAndSet(false, true)) {
                            greetAgain(all, connection);
                        }
                        greeted.accumulateAndGet(
                                connection, Math::max); // it may be connected again by now, and greeted there
                        if (isReady()) {
                            members.ready();
                        }
                        first.complete(check);
                    } else {
                        notReady(errors.of(RedisErrors.unwrapped(failure)));
                        greetAgain(all, connection);
                    }
                });
    }

    private CompletionStage<ServerCheck> introduce(ServerCheck check) {
        members.enrol(this, check.runId());
        String run = check.runId().isEmpty() ? UNKNOWN : check.runId();
        return about(run, "", 0)
                .thenCompose(said -> said.startsWith("+") ? CompletableFuture.completedFuture(said) : rest(run, said))
                .thenApply(said -> {
                    inDoubt = !said.startsWith("+");
                    longestMillis = longest(said);
                    return check;
                });
    }

    /** Sends it how long to sit out; while that is unknown, it refuses all claims by itself. */
    private CompletionStage<String> rest(String run, String said) {
        return members.restOf(this, longest(said))
                .thenCompose(rest -> rest.isPresent()
                        ? about(run, Long.toString(rest.get()), 0)
                        : CompletableFuture.completedFuture(said));
    }

    /** On this connection: on the next one it is greeted in any case. */
    private void greetAgain(ScriptPipeline all, long connection) {
        members.later(
                () -> {
                    if (closed == null && all.isConnected() && all.connectionNumber() == connection) {
                        greet();
                    }
                },
                AGAIN);
    }

    /** {@code quorum_member.lua}, on a connection that may not be greeted yet. */
    private CompletableFuture<String> about(String run, String restMillis, long leaseMillis) {
        ScriptCall call = ScriptCall.member(List.of(run, restMillis, Long.toString(leaseMillis)));
        ScriptPipeline all = pipeline;
        return all == null || !all.isConnected()
                ? CompletableFuture.failedFuture(whyNot)
                : all.ask(call).thenApply(ScriptCall.Answer::text);
    }

    private static long longest(String said) {
        int end = said.indexOf(' ');
        return Long.parseLong(said.substring(1, end < 0 ? said.length() : end));
    }

    /** The memory of a member of the leases that it was asked for. */
    record Memory(long longestMillis, boolean isWhole) {}

    /** The longest lease that this member was ever asked for, as far as it knows. */
    CompletableFuture<Memory> memory() {
        return about(UNKNOWN, "", 0).thenApply(said -> new Memory(longest(said), said.startsWith("+")));
    }

    // ---- questions ----

    /** Calls a script; fails at once unless the member is ready. */
    CompletableFuture<String> call(ScriptCall call) {
        return sender.ask(call).thenApply(ScriptCall.Answer::text);
    }

    void send(ScriptCall call) {
        RuntimeException end = closed;
        ScriptPipeline all = pipeline;
        long connection = all == null ? 0 : all.connectionNumber();
        if (end != null) {
            call.fail(end);
        } else if (all == null || !all.isConnected() || connection != greeted.get()) {
            call.fail(whyNot);
        } else {
            call.validOn(connection); // it may break now, and the next one is not greeted yet
            all.send(call);
        }
    }

    /**
     * Renews. It first remembers a lease longer than all before, for the time when another member has to sit it out; where
     * it cannot, since its data was deleted, it renews nothing.
     */
    CompletionStage<Map<ClaimId, Renewal>> renew(List<Grant> grants) {
        long longest = grants.stream()
                .mapToLong(grant -> grant.lease().toMillis() + 1)
                .max()
                .orElse(0);
        if (!isReady() || longest <= longestMillis) {
            return scripts.renew(grants);
        }
        return about(UNKNOWN, "", longest).thenCompose(said -> {
            longestMillis = longest(said);
            return longestMillis < longest ? CompletableFuture.failedFuture(sitsOut(said)) : scripts.renew(grants);
        });
    }

    /** Why it takes no part in a claim, from its answer. */
    RuntimeException sitsOut(String said) {
        if (said.startsWith("?") && greeting.compareAndSet(false, true)) {
            greet(); // its data was deleted while it ran
        }
        return new StoreUnavailableException(errors.store()
                + " is new in this quorum, or was started again, and may have lost locks: it grants none "
                + (said.startsWith("~")
                        ? "for another " + said.substring(1) + " ms"
                        : "until the longest lease is over"));
    }

    /** An empty answer without a question; fails unless the member is ready. */
    CompletionStage<Map<ClaimId, Renewal>> greeted() {
        return isReady() ? CompletableFuture.completedFuture(Map.of()) : CompletableFuture.failedFuture(whyNot);
    }

    // ---- its keys ----

    CompletionStage<List<ScriptSender.KeyPages>> keyPages() {
        ScriptPipeline all = pipeline;
        return all == null || !isReady() ? CompletableFuture.failedFuture(whyNot) : all.keyPages();
    }

    boolean isShutDown() {
        ScriptPipeline all = pipeline;
        return all != null && all.isShutDown();
    }

    // ---- the end ----

    void close(RuntimeException why) {
        closed = why;
        ScriptPipeline all = pipeline;
        if (all != null) {
            all.close(why);
        }
    }

    @Override
    public void close() {
        ScriptPipeline all = pipeline;
        if (all != null) {
            all.close();
        }
    }
}
