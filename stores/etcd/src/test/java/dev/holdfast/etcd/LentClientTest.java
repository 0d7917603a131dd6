package dev.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.Started;
import io.etcd.jetcd.Client;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A jetcd client of the application's own, with the application's settings: it has no limit for a call. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class LentClientTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    @Started
    private static EtcdServer server;

    @Test
    void keepAlivesWithoutAnAnswerLeaveNoStreamsOpen() throws Exception {
        AtomicInteger open = new AtomicInteger();
        try (Client etcd = client(new Counting(open));
                LockClient client = LockClient.builder(EtcdStores.on(etcd)).build()) {
            Hold hold = client.lock("streams", HoldOptions.defaults().lease(Duration.ofSeconds(6)))
                    .acquire();
            server.process().stop();
            try {
                await().atMost(LONG).until(() -> !hold.isValid());
                await().atMost(Duration.ofSeconds(5)).until(() -> open.get() <= 1); // the one that waits now
            } finally {
                server.process().cont();
            }
        }
    }

    @Test
    void aStoreWhoseClientIsClosedFirstIsClosedAllTheSame() throws Exception {
        Client etcd = client();
        LockClient client = LockClient.builder(EtcdStores.on(etcd)).build();
        Hold hold = client.lock("closed").acquire();
        assertThat(hold.isValid()).isTrue();
        etcd.close();
        assertThatCode(client::close).doesNotThrowAnyException();
    }

    /** Between the read that finds no layout and the transaction that writes one. */
    @Test
    void aNewerLayoutThatAppearsWhileTheStoreIsOpenedIsRefused() {
        String prefix = "/race";
        AtomicInteger transactions = new AtomicInteger();
        ClientInterceptor race = new ClientInterceptor() {
            @Override
            public <Q, A> ClientCall<Q, A> interceptCall(
                    MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
                if ("Txn".equals(method.getBareMethodName()) && transactions.incrementAndGet() == 2) {
                    server.ask(
                            "kv/put",
                            "{\"key\":\"" + Etcd.base64(prefix + "/holdfast/layout") + "\",\"value\":\""
                                    + Etcd.base64("holdfast 2") + "\"}");
                }
                return next.newCall(method, options);
            }
        };
        try (Client etcd = client(race)) {
            assertThatThrownBy(() ->
                            LockClient.builder(EtcdStores.on(etcd, prefix)).build())
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("upgrade");
        }
    }

    /** jetcd answers in the Vert.x context of the thread that asks it first; that of a worker runs one task at a time. */
    @Test
    void aWorkerOfVertxOpensClientsAndWaits() throws Exception {
        Etcd.load(server.endpoint());
        CompletableFuture<Boolean> valid = new CompletableFuture<>();
        Vertx vertx = Vertx.vertx();
        DeploymentOptions worker = new DeploymentOptions().setThreadingModel(ThreadingModel.WORKER);
        try {
            Object unused = vertx.deployVerticle(
                    context -> {
                        try (Client etcd = client();
                                LockClient lent =
                                        LockClient.builder(EtcdStores.on(etcd)).build();
                                LockClient own = LockClient.connect("etcd://" + server.endpoint() + "?timeout=4s");
                                Hold one = lent.lock("one").acquire();
                                Hold two = own.lock("two").acquire()) {
                            valid.complete(one.isValid() && two.isValid());
                        } catch (Throwable failed) {
                            valid.completeExceptionally(failed);
                        }
                        return Future.succeededFuture();
                    },
                    worker);
            assertThat(valid.get(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } finally {
            Object unused = vertx.close();
        }
    }

    private static Client client(ClientInterceptor... interceptors) {
        Etcd.load(server.endpoint());
        var builder = Client.builder().endpoints("http://" + server.endpoint());
        for (ClientInterceptor each : interceptors) {
            builder.interceptor(each);
        }
        return builder.build();
    }

    /** Counts the keep-alive streams that have not ended. */
    private record Counting(AtomicInteger open) implements ClientInterceptor {
        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
            ClientCall<Q, A> call = next.newCall(method, options);
            if (!"LeaseKeepAlive".equals(method.getBareMethodName())) {
                return call;
            }
            return new SimpleForwardingClientCall<>(call) {
                @Override
                public void start(Listener<A> listener, Metadata headers) {
                    open.incrementAndGet();
                    super.start(
                            new SimpleForwardingClientCallListener<>(listener) {
                                @Override
                                public void onClose(Status status, Metadata trailers) {
                                    open.decrementAndGet();
                                    super.onClose(status, trailers);
                                }
                            },
                            headers);
                }
            };
        }
    }
}
