package dev.holdfast.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.testbed.Ports;
import dev.holdfast.testbed.TcpProxy;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.AbstractList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The connection for scripts, when the client library throws. */
class ScriptPipelineTest {
    @Test
    void aCallIsSentAgainAfterAnErrorOfTheClientLibrary() {
        try (Rig rig = new Rig();
                RedisClient client = RedisClient.create(rig.server.uri());
                StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE)) {
            AtomicBoolean broken = new AtomicBoolean(true);
            ScriptPipeline pipeline = new ScriptPipeline(
                    throwing(connection, broken), rig.time(), Rig.NEVER, new RedisErrors("redis"), Acks.NONE);
            ScriptCall call = ScriptCall.of(Script.STATUS, "a", List.of());
            CompletableFuture<ScriptCall.Answer> answer = Rig.answerOf(call);

            pipeline.send(call);

            assertThat(Rig.get(answer)).isNotNull();
            assertThat(broken).as("was thrown").isFalse();
        }
    }

    @Test
    void anErrorWhileAPacketIsMadeLeavesNoCallWithoutAnAnswer() {
        anErrorWhileAPacketIsMade(Acks.NONE, ScriptCall.of(Script.STATUS, "a", new BrokenOnce(List.of())));
    }

    @Test
    void norDoesItWithAcks() {
        ScriptCall grants = ScriptCall.claim("a", true, true, new BrokenOnce(words(Rig.claim("a"))));
        anErrorWhileAPacketIsMade(new Acks(1, Duration.ofMillis(10)), grants);
    }

    private static void anErrorWhileAPacketIsMade(Acks acks, ScriptCall broken) {
        withPipeline(acks, pipeline -> {
            ScriptCall beside = ScriptCall.of(Script.STATUS, "b", List.of());
            CompletableFuture<ScriptCall.Answer> besideAnswer = Rig.answerOf(beside);
            ScriptCall next = ScriptCall.of(Script.STATUS, "c", List.of());
            CompletableFuture<ScriptCall.Answer> nextAnswer = Rig.answerOf(next);

            together(pipeline, broken, beside);
            pipeline.send(next);

            assertThat(Rig.get(nextAnswer)).isNotNull();
            assertThat(Rig.get(besideAnswer)).isNotNull();
            assertThat(isAnsweredOrHasFailed(broken)).isTrue();
        });
    }

    @Test
    void anErrorWhileAReleaseAndAClaimAreMadeOneLeavesNeitherWithoutAnAnswer() {
        withPipeline(Acks.NONE, pipeline -> {
            ScriptCall release = ScriptCall.release("a", ClaimId.random(), Mode.EXCLUSIVE);
            ScriptCall claim = ScriptCall.claim("a", true, true, new BrokenOnce(words(Rig.claim("a"))));
            ScriptCall next = ScriptCall.of(Script.STATUS, "c", List.of());
            CompletableFuture<ScriptCall.Answer> answer = Rig.answerOf(next);

            together(pipeline, release, claim);
            assertThat(isAnsweredOrHasFailed(release)).isTrue();
            assertThat(isAnsweredOrHasFailed(claim)).isTrue();

            pipeline.send(next);
            assertThat(Rig.get(answer)).isNotNull();
        });
    }

    /** Lettuce would repeat it on the next connection, whenever that is; a lease counts from the sending. */
    @Test
    void aCallWhoseConnectionBreaksAsItIsWrittenIsSentAnewOnTheNext() {
        try (Rig rig = new Rig();
                TcpProxy proxy = TcpProxy.to(rig.server.port());
                RedisClient client = RedisClient.create("redis://127.0.0.1:" + proxy.port());
                StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE)) {
            HookedTime time = new HookedTime(rig.time());
            ScriptPipeline pipeline =
                    new ScriptPipeline(connection, time, Rig.NEVER, new RedisErrors("redis"), Acks.NONE);
            ScriptCall call = ScriptCall.of(Script.STATUS, "a", List.of());
            CompletableFuture<ScriptCall.Answer> answer = Rig.answerOf(call);
            Runnable asItIsWritten = () -> {
                proxy.refuse();
                proxy.cut();
                await().until(() -> !pipeline.isConnected());
            };
            time.afterTheNextLook.set(() -> time.afterTheNextLook.set(asItIsWritten)); // the first is at the asking
            pipeline.send(call);
            await().until(() -> call.wasSent() && !call.isUnderWay());
            long healed = rig.time().nanoTime();

            proxy.heal();

            assertThat(Rig.get(answer).sentNanos()).isGreaterThan(healed);
        }
    }

    /** Not by Lettuce, too, to which its first sending has ended. */
    @Test
    void aCallThatGotNoAnswerIsSentOnceOnTheNextConnection() {
        try (Rig rig = new Rig();
                TcpProxy proxy = TcpProxy.to(rig.server.port());
                RedisClient client = RedisClient.create("redis://127.0.0.1:" + proxy.port());
                StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE)) {
            ScriptPipeline pipeline =
                    new ScriptPipeline(connection, rig.time(), Rig.NEVER, new RedisErrors("redis"), Acks.NONE);
            ServerCheck.loadScripts(connection);
            assertThat(connection.sync().ping()).isEqualTo("PONG");
            proxy.toServer().hold();
            CompletableFuture<ScriptCall.Answer> answer = pipeline.ask(ScriptCall.of(Script.STATUS, "a", List.of()));
            await().until(() -> proxy.toServer().traffic().kept() > 0);
            assertThat(proxy.cut()).isPositive();
            long healed = rig.time().nanoTime();

            proxy.heal();

            assertThat(Rig.get(answer).sentNanos()).isGreaterThan(healed);
            assertThat(Rig.get(answer).twice()).isTrue();
            assertThat(connection.sync().ping()).isEqualTo("PONG"); // behind what Lettuce would repeat
            assertThat(rig.commands()).containsEntry("evalsha", 1);
        }
    }

    /** It may be stopped for long between the two, and another thread sends for the next connection. */
    @Test
    void aCallIsNotSentBeforeOneThatAThreadHasTakenAndNotYetWritten() {
        try (Rig rig = new Rig();
                TcpProxy proxy = TcpProxy.to(rig.server.port());
                RedisClient client = RedisClient.create("redis://127.0.0.1:" + proxy.port());
                StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE)) {
            HookedTime time = new HookedTime(rig.time());
            ScriptPipeline pipeline =
                    new ScriptPipeline(connection, time, Rig.NEVER, new RedisErrors("redis"), Acks.NONE);
            long first = pipeline.connectionNumber();
            ScriptCall call = ScriptCall.of(Script.STATUS, "a", List.of());
            CompletableFuture<ScriptCall.Answer> answer = Rig.answerOf(call);
            ScriptCall next = ScriptCall.of(Script.STATUS, "b", List.of());
            CompletableFuture<ScriptCall.Answer> nextAnswer = Rig.answerOf(next);
            Runnable asItIsWritten = () -> {
                proxy.cut();
                proxy.heal();
                await().until(() -> pipeline.connectionNumber() != first && pipeline.isConnected());
                pipeline.send(next);
                assertThatThrownBy(() -> nextAnswer.get(300, TimeUnit.MILLISECONDS))
                        .isInstanceOf(TimeoutException.class);
            };
            AtomicReference<Throwable> overtaken = new AtomicReference<>();
            time.afterTheNextLook.set(() -> time.afterTheNextLook.set(() -> {
                try {
                    asItIsWritten.run();
                } catch (Throwable failed) {
                    overtaken.set(failed);
                }
            }));

            pipeline.send(call);

            assertThat(Rig.get(answer)).isNotNull();
            assertThat(Rig.get(nextAnswer)).isNotNull();
            assertThat(overtaken).hasNullValue();
        }
    }

    @Test
    void aClaimThatOvertookOneOfTwoForgottenReleasesIsSentBehindBoth() {
        Mode.Permits half = new Mode.Permits(1, 2);
        try (Rig rig = new Rig();
                TcpProxy proxy = TcpProxy.to(rig.server.port());
                RedisClient client = RedisClient.create("redis://127.0.0.1:" + proxy.port());
                StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE)) {
            ScriptPipeline pipeline =
                    new ScriptPipeline(connection, rig.time(), Rig.NEVER, new RedisErrors("redis"), Acks.NONE);
            RedisStore store = rig.open();
            ScriptCall one = ScriptCall.release(
                    "a", Rig.hold(store, Rig.claim("a", half)).id(), half);
            ScriptCall claim = ScriptCall.claim("a", false, true, words(Rig.claim("a", half)));
            CompletableFuture<ScriptCall.Answer> answer = Rig.answerOf(claim);
            ScriptCall other = ScriptCall.release(
                    "a", Rig.hold(store, Rig.claim("a", half)).id(), half);
            rig.call("SCRIPT", "FLUSH");
            Rig.hold(store, "b"); // the script of claims is known again
            proxy.toServer().hold();
            pipeline.send(one);
            pipeline.send(other);
            await().until(() -> one.wasSent() && other.wasSent());
            pipeline.send(claim);
            await().until(claim::wasSent);

            proxy.heal();

            assertThat(claim.isGrant(Rig.get(answer).text().getBytes(UTF_8))).isTrue();
        }
    }

    /** Alone it would be about any call that happens to be the next. */
    @Test
    void theWordBeforeACallInAMovingSlotIsNotRepeatedWithoutIt() {
        try (Rig rig = new Rig();
                TcpProxy proxy = TcpProxy.to(rig.server.port());
                RedisClient client = RedisClient.create("redis://127.0.0.1:" + proxy.port());
                StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE)) {
            ScriptPipeline pipeline =
                    new ScriptPipeline(connection, rig.time(), Rig.NEVER, new RedisErrors("redis"), Acks.NONE);
            ServerCheck.loadScripts(connection);
            assertThat(connection.sync().ping()).isEqualTo("PONG");
            ScriptCall call = ScriptCall.of(Script.STATUS, "a", List.of());
            CompletableFuture<ScriptCall.Answer> answer = Rig.answerOf(call);
            call.asking();
            proxy.toServer().hold();
            pipeline.send(call);
            await().until(() -> proxy.toServer().traffic().kept() > 0);

            assertThat(proxy.cut()).isPositive();
            proxy.heal();

            assertThat(Rig.get(answer)).isNotNull();
            assertThat(rig.commands()).containsEntry("asking", 1);
        }
    }

    /** As where no thread can be made for the connection to another node. */
    @Test
    void anErrorAsACallIsPassedToAnotherServerLeavesItNotWithoutAnAnswer() {
        try (Rig rig = new Rig("--cluster-enabled", "yes", "--cluster-port", Integer.toString(Ports.free()));
                RedisClient client = RedisClient.create(rig.server.uri());
                StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE)) {
            ScriptPipeline pipeline =
                    new ScriptPipeline(connection, rig.time(), Rig.NEVER, new RedisErrors("redis"), Acks.NONE);
            pipeline.tell(new PipelineEvents() {
                @Override
                public boolean redirected(ScriptCall call, String answer) {
                    throw new OutOfMemoryError("of the test");
                }
            });

            CompletableFuture<ScriptCall.Answer> answer = pipeline.ask(ScriptCall.of(Script.STATUS, "a", List.of()));

            assertThatThrownBy(() -> Rig.get(answer)).hasRootCauseMessage("of the test");
        }
    }

    @Test
    void norDoesAnotherAsItIsExplained() {
        try (Rig rig = new Rig("--cluster-enabled", "yes", "--cluster-port", Integer.toString(Ports.free()));
                RedisClient client = RedisClient.create(rig.server.uri());
                StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE)) {
            ScriptPipeline pipeline =
                    new ScriptPipeline(connection, rig.time(), Rig.NEVER, new RedisErrors("redis"), Acks.NONE);
            pipeline.tell(new PipelineEvents() {
                @Override
                public boolean redirected(ScriptCall call, String answer) {
                    throw new Unspeakable();
                }
            });
            ScriptCall call = ScriptCall.of(Script.STATUS, "a", List.of());

            pipeline.send(call);

            assertThat(isAnsweredOrHasFailed(call)).isTrue();
        }
    }

    /** An Error, of which to say anything is another. */
    private static final class Unspeakable extends InternalError {
        private static final long serialVersionUID = 1L;

        @Override
        public String getMessage() {
            throw new OutOfMemoryError("of the test");
        }
    }

    /** As where the topology of a cluster changes: another thread retires the connection. */
    @Test
    void aGrantIsHandedBackThoughItsConnectionIsRetiredJustBeforeItIsKeptForItsReplicas() {
        withHeldAnswers(new Acks(1, Rig.TIMEOUT), (pipeline, time, proxy) -> {
            List<ScriptCall> back = handedBack(pipeline);
            ScriptCall claim = claim("a");
            pipeline.send(claim);
            await().until(() -> proxy.toClient().traffic().kept() > 0);

            time.afterTheNextLook.set(pipeline::retire); // it is at the answer
            proxy.heal();

            await().until(() -> back.contains(claim));
        });
    }

    @Test
    void anErrorAsOneGrantIsHandedBackKeepsNoOtherFromIt() {
        withHeldAnswers(new Acks(1, Rig.TIMEOUT), (pipeline, time, proxy) -> {
            List<ScriptCall> back = handedBack(pipeline);
            ScriptCall one = claim("a");
            ScriptCall other = claim("b");
            together(pipeline, one, other);
            proxy.heal();
            awaitKept(pipeline, one, other);

            time.afterTheNextLook.set(() -> time.afterTheNextLook.set(
                    () -> { // as WAIT ends, and as the first is told
                        throw new OutOfMemoryError("of the test");
                    }));
            pipeline.retire();

            assertThat(back).containsExactly(other);
            assertThat(one.isDone()).isTrue();
        });
    }

    @Test
    void anErrorAsWaitIsAnsweredKeepsNoOtherCallFromBeingSent() {
        withHeldAnswers(new Acks(1, Duration.ofSeconds(2)), (pipeline, time, proxy) -> {
            ScriptCall claim = claim("a");
            pipeline.send(claim);
            proxy.heal();
            awaitKept(pipeline, claim);
            AtomicBoolean broken = new AtomicBoolean();
            time.afterTheNextLook.set(() -> {
                broken.set(true);
                throw new OutOfMemoryError("of the test");
            });
            await().untilTrue(broken);

            ScriptCall next = ScriptCall.of(Script.STATUS, "b", List.of());
            pipeline.send(next);

            assertThat(isAnsweredOrHasFailed(next)).isTrue();
            assertThat(isAnsweredOrHasFailed(claim)).isTrue();
        });
    }

    /** A connection on which no answer arrives yet. */
    @FunctionalInterface
    private interface HeldAnswers {
        void test(ScriptPipeline pipeline, HookedTime time, TcpProxy proxy);
    }

    private static void withHeldAnswers(Acks acks, HeldAnswers test) {
        try (Rig rig = new Rig();
                TcpProxy proxy = TcpProxy.to(rig.server.port());
                RedisClient client = RedisClient.create("redis://127.0.0.1:" + proxy.port());
                StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE)) {
            HookedTime time = new HookedTime(rig.time());
            ScriptPipeline pipeline = new ScriptPipeline(connection, time, Rig.NEVER, new RedisErrors("redis"), acks);
            ServerCheck.loadScripts(connection);
            assertThat(connection.sync().ping()).isEqualTo("PONG");
            proxy.toClient().hold();
            test.test(pipeline, time, proxy);
        }
    }

    /** Until the answers are kept for the replicas, and the event loop has gone on. */
    private static void awaitKept(ScriptPipeline pipeline, ScriptCall... calls) {
        await().until(() -> Stream.of(calls).allMatch(call -> call.wasSent() && !call.isUnderWay()));
        CompletableFuture<Boolean> goneOn = new CompletableFuture<>();
        pipeline.beforeSending("a", () -> goneOn.complete(true));
        assertThat(Rig.get(goneOn)).isTrue();
    }

    private static List<ScriptCall> handedBack(ScriptPipeline by) {
        List<ScriptCall> back = new CopyOnWriteArrayList<>();
        by.tell(new PipelineEvents() {
            @Override
            public void unsent(ScriptCall call) {
                back.add(call);
            }
        });
        return back;
    }

    private static ScriptCall claim(String name) {
        return ScriptCall.claim(name, true, true, words(Rig.claim(name)));
    }

    /** Nobody else has it meanwhile. */
    @Test
    void anErrorAfterTheyPauseLeavesNoCallToAClusterWithoutAnAnswer() {
        try (Rig rig = new Rig();
                RedisClient client = RedisClient.create()) {
            HookedTime time = new HookedTime(rig.time());
            ClusterSender cluster = new ClusterSender(
                    client,
                    RedisURI.create(rig.server.uri()),
                    List.of(), // no node has a slot, nor says who has
                    new Settings(time, Rig.NEVER, Rig.NEVER, 0),
                    new RedisErrors("redis"));
            time.beforeTheNextTask.set(() -> time.afterTheNextLook.set(() -> {
                throw new OutOfMemoryError("of the test");
            }));

            CompletableFuture<ScriptCall.Answer> answer = cluster.ask(ScriptCall.of(Script.STATUS, "a", List.of()));

            assertThatThrownBy(() -> Rig.get(answer)).hasRootCauseMessage("of the test");
        }
    }

    /** The server answers all copies at last, each of which belongs to its own call. */
    @Test
    void whatALentClientGivesUpIsAnsweredInStep() {
        try (Rig rig = new Rig();
                TcpProxy proxy = TcpProxy.to(rig.server.port());
                RedisClient client = RedisClient.create("redis://127.0.0.1:" + proxy.port())) {
            client.setOptions(ClientOptions.builder()
                    .timeoutOptions(TimeoutOptions.enabled(Duration.ofMillis(100)))
                    .build());
            try (StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE)) {
                ScriptPipeline pipeline =
                        new ScriptPipeline(connection, rig.time(), Rig.NEVER, new RedisErrors("redis"), Acks.NONE);
                ServerCheck.loadScripts(connection);
                proxy.toClient().hold();
                List<CompletableFuture<ScriptCall.Answer>> claims = IntStream.range(0, 50)
                        .mapToObj(i -> pipeline.ask(ScriptCall.claim("n" + i, true, true, words(Rig.claim("n" + i)))))
                        .toList();
                CompletableFuture<ScriptCall.Answer> status =
                        pipeline.ask(ScriptCall.of(Script.STATUS, "n7", List.of()));
                AtomicInteger run = new AtomicInteger();
                Rig.until(
                        "each to be sent twice and more",
                        () -> run.addAndGet(rig.commands().getOrDefault("evalsha", 0)) > 2 * (claims.size() + 1));

                proxy.heal();

                assertThat(claims).allSatisfy(claim -> {
                    assertThat(Rig.get(claim).text()).matches("\\d+");
                    assertThat(Rig.get(claim).twice()).isTrue();
                });
                assertThat(Rig.get(status).text()).doesNotMatch("\\d+");
            }
        }
    }

    @Test
    void anErrorAtTheEndOfAConnectionDoesNotKeepItFromComingBack() {
        withPipeline(Acks.NONE, pipeline -> {
            AtomicBoolean broken = new AtomicBoolean();
            pipeline.tell(new PipelineEvents() {
                @Override
                public void disconnected() {
                    broken.set(true);
                    throw new InternalError("of the test");
                }
            });

            LettuceConnection.disconnect(pipeline.connection());

            await().untilTrue(broken);
            await().until(pipeline::isConnected);
        });
    }

    private static List<String> words(Claim claim) {
        return Scripts.words(claim, new Scripts.Place("", "0", Duration.ZERO, false));
    }

    private static void withPipeline(Acks acks, Consumer<ScriptPipeline> test) {
        try (Rig rig = new Rig();
                RedisClient client = RedisClient.create(rig.server.uri());
                StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE)) {
            test.accept(new ScriptPipeline(connection, rig.time(), Rig.NEVER, new RedisErrors("redis"), acks));
        }
    }

    /** They leave in one packet. */
    private static void together(ScriptPipeline pipeline, ScriptCall... calls) {
        pipeline.beforeSending("a", () -> List.of(calls).forEach(pipeline::send));
    }

    private static boolean isAnsweredOrHasFailed(ScriptCall call) {
        await().until(call::isDone);
        return true;
    }

    /** The words of a call; the first time that they are read, an Error is thrown. */
    private static final class BrokenOnce extends AbstractList<String> {
        private final List<String> words;
        private final AtomicBoolean broken = new AtomicBoolean(true);

        BrokenOnce(List<String> words) {
            this.words = words;
        }

        @Override
        public String get(int index) {
            return words.get(index);
        }

        @Override
        public int size() {
            if (broken.getAndSet(false)) {
                throw new InternalError("of the test");
            }
            return words.size();
        }
    }

    @Test
    void aRefusedLogInEndsOnlyWhatWasAskedBefore() {
        try (Rig rig = new Rig();
                RedisClient client = RedisClient.create(rig.server.uri());
                StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE)) {
            HookedTime time = new HookedTime(rig.time());
            ScriptPipeline pipeline =
                    new ScriptPipeline(connection, time, Rig.NEVER, new RedisErrors("redis"), Acks.NONE);
            rig.server.process().stop(); // it stays stopped: nothing is answered, nothing connected
            LettuceConnection.disconnect(connection);
            await().until(() -> !pipeline.isConnected());
            ScriptCall before = ScriptCall.of(Script.STATUS, "a", List.of());
            CompletableFuture<ScriptCall.Answer> beforeAnswer = Rig.answerOf(before);
            ScriptCall after = ScriptCall.of(Script.STATUS, "b", List.of());
            CompletableFuture<ScriptCall.Answer> afterAnswer = Rig.answerOf(after);
            pipeline.send(before);

            time.afterTheNextLook.set(() -> pipeline.send(after));
            pipeline.notConnected(new StoreRefusedException("wants a log-in"));

            assertThat(beforeAnswer).isCompletedExceptionally();
            assertThat(afterAnswer).isNotDone();
            rig.server.process().cont();
            assertThat(Rig.get(afterAnswer)).isNotNull();
        }
    }

    /** The server may have run it, so it was not refused. */
    @Test
    void aCallThatWasSentBeforeARefusedLogInIsOfUnknownOutcome() {
        try (Rig rig = new Rig();
                RedisClient client = RedisClient.create(rig.server.uri());
                StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE)) {
            ScriptPipeline pipeline =
                    new ScriptPipeline(connection, rig.time(), Rig.NEVER, new RedisErrors("redis"), Acks.NONE);
            rig.server.process().stop();
            ScriptCall sent = ScriptCall.of(Script.STATUS, "a", List.of());
            CompletableFuture<ScriptCall.Answer> answer = Rig.answerOf(sent);
            pipeline.send(sent);
            await().until(sent::wasSent);
            LettuceConnection.disconnect(connection);
            await().until(() -> !pipeline.isConnected());

            pipeline.notConnected(new StoreRefusedException("wants a log-in"));

            assertThatThrownBy(() -> Rig.get(answer))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("wants a log-in");
            rig.server.process().cont();
        }
    }

    /** The server may run it, so it is not refused, as what is asked later is. */
    @Test
    void aCallThatWasSentBeforeTheOwnerShutTheClientDownIsOfUnknownOutcome() {
        try (Rig rig = new Rig()) {
            RedisClient client = RedisClient.create(rig.server.uri());
            ScriptPipeline pipeline = new ScriptPipeline(
                    client.connect(ByteArrayCodec.INSTANCE),
                    rig.time(),
                    Rig.NEVER,
                    new RedisErrors("redis"),
                    Acks.NONE);
            rig.server.process().stop();
            ScriptCall sent = ScriptCall.of(Script.STATUS, "a", List.of());
            CompletableFuture<ScriptCall.Answer> sentAnswer = Rig.answerOf(sent);
            ScriptCall later = ScriptCall.of(Script.STATUS, "b", List.of());
            CompletableFuture<ScriptCall.Answer> laterAnswer = Rig.answerOf(later);
            pipeline.send(sent);
            await().until(sent::wasSent);

            client.shutdown(0, 0, TimeUnit.SECONDS);
            pipeline.send(later);

            assertThatThrownBy(() -> Rig.get(sentAnswer))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("shut down");
            assertThatThrownBy(() -> Rig.get(laterAnswer))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("shut down");
            rig.server.process().cont();
        }
    }

    /** Nobody else would look again for what gets no answer. */
    @Test
    void aCallWithoutAnAnswerFailsThoughAnErrorEndsALookForSuch() {
        try (Rig rig = new Rig();
                RedisClient client = RedisClient.create(rig.server.uri());
                StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE)) {
            HookedTime time = new HookedTime(rig.time());
            Duration patience = Duration.ofMillis(800);
            ScriptPipeline pipeline =
                    new ScriptPipeline(connection, time, patience, new RedisErrors("redis"), Acks.NONE);
            rig.server.process().stop();
            AtomicBoolean broken = new AtomicBoolean();
            time.beforeTheNextTask.set(() -> time.afterTheNextLook.set(() -> {
                broken.set(true);
                throw new OutOfMemoryError("of the test");
            }));

            CompletableFuture<ScriptCall.Answer> answer = pipeline.ask(ScriptCall.of(Script.STATUS, "a", List.of()));

            assertThatThrownBy(() -> Rig.get(answer)).isInstanceOf(StoreUnavailableException.class);
            assertThat(broken).as("was thrown").isTrue();
            rig.server.process().cont();
        }
    }

    /** Somebody else does something when the time has been read, or before a task is run. */
    private static final class HookedTime implements TimeSource {
        private static final Runnable NOTHING = () -> {};
        private final TimeSource real;
        final AtomicReference<Runnable> afterTheNextLook = new AtomicReference<>(NOTHING);
        final AtomicReference<Runnable> beforeTheNextTask = new AtomicReference<>(NOTHING);

        HookedTime(TimeSource real) {
            this.real = real;
        }

        @Override
        public long nanoTime() {
            long now = real.nanoTime();
            afterTheNextLook.getAndSet(NOTHING).run();
            return now;
        }

        @Override
        public long wallMillis() {
            return real.wallMillis();
        }

        @Override
        public Scheduled schedule(Runnable task, Duration delay) {
            return real.schedule(
                    () -> {
                        beforeTheNextTask.getAndSet(NOTHING).run();
                        task.run();
                    },
                    delay);
        }
    }

    /** The connection, whose next write fails. */
    @SuppressWarnings("unchecked")
    private static StatefulRedisConnection<byte[], byte[]> throwing(
            StatefulRedisConnection<byte[], byte[]> real, AtomicBoolean broken) {
        return (StatefulRedisConnection<byte[], byte[]>) Proxy.newProxyInstance(
                ScriptPipelineTest.class.getClassLoader(),
                new Class<?>[] {StatefulRedisConnection.class},
                (proxy, method, with) -> {
                    boolean writes = method.getName().equals("dispatch") && with[0] instanceof Collection<?>;
                    if (writes && broken.getAndSet(false)) {
                        throw new InternalError("of the client library");
                    }
                    try {
                        return method.invoke(real, with);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
