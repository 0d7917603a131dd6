package dev.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoredRecord;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.OrSkip;
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
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What records leave behind. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class RecordTest {
    private static final Duration DAY = Duration.ofDays(1);
    private static final Duration LONG = Duration.ofSeconds(60);

    @Test
    void aRecordThatIsRefusedLeavesNoLease() {
        try (EtcdServer server = OrSkip.orSkip(() -> EtcdServer.start("--max-request-bytes=65536"));
                Store store = RawStore.open(server.port())) {
            RecordWrite small = new RecordWrite("record", 1, RecordWrite.ANY, "small", DAY);
            assertThat(RawStore.answer(store.writeRecord(small))).isPresent();
            assertThat(Etcd.leases(server)).isOne();

            RecordWrite large = new RecordWrite("record", 2, RecordWrite.ANY, "large".repeat(20_000), DAY);

            assertThatThrownBy(() -> RawStore.answer(store.writeRecord(large)))
                    .hasCauseInstanceOf(StoreRefusedException.class);
            await().atMost(Duration.ofSeconds(20)).until(() -> Etcd.leases(server) == 1);
            assertThat(RawStore.answer(store.readRecord("record"))
                            .stored()
                            .orElseThrow()
                            .value())
                    .isEqualTo("small");
        }
    }

    /** It was overtaken on its way. A record that was forgotten meanwhile would be there again, as that of a run under way. */
    @Test
    void aWriteThatArrivesAfterItFailedMakesNoRecord() {
        Lines line = new Lines();
        try (EtcdServer server = OrSkip.orSkip(EtcdServer::start);
                Client client = line.connect(server);
                Store store = EtcdStores.on(client).open(new StoreContext(new KitTime()))) {
            line.holdRequestsWith("overtaken");
            RecordWrite write = new RecordWrite("record", 1, RecordWrite.ABSENT, "overtaken", DAY);
            assertThatThrownBy(() -> RawStore.answer(store.writeRecord(write)))
                    .hasCauseInstanceOf(StoreUnavailableException.class);
            await().atMost(LONG).until(() -> Etcd.leases(server) == 0);

            CompletableFuture<Void> late = line.sendHeld();

            late.join();
            assertThat(RawStore.answer(store.readRecord("record")).stored()).isEmpty();
        }
    }

    @Test
    void aWriteWhoseAnswerIsLostLeavesItsRecordAndItsLease() {
        Lines line = new Lines();
        try (EtcdServer server = OrSkip.orSkip(EtcdServer::start);
                Client client = line.connect(server);
                Store store = EtcdStores.on(client).open(new StoreContext(new KitTime()))) {
            line.loseAnswersTo("carried out");
            RecordWrite write = new RecordWrite("record", 1, RecordWrite.ABSENT, "carried out", DAY);
            long before = Etcd.keys(server);
            assertThatThrownBy(() -> RawStore.answer(store.writeRecord(write)))
                    .hasCauseInstanceOf(StoreUnavailableException.class);

            await().atMost(LONG).until(() -> Etcd.keys(server) == before + 2); // the record, and what makes copies void

            assertThat(RawStore.answer(store.readRecord("record")).stored())
                    .hasValueSatisfying(stored -> assertThat(stored.value()).isEqualTo("carried out"));
            assertThat(Etcd.leases(server)).isOne();
        }
    }

    @Test
    void aRecordOfAnotherProgramIsRefusedAndKeepsNoOtherFromBeingListed() {
        try (EtcdServer server = OrSkip.orSkip(EtcdServer::start);
                Client client = new Lines().connect(server);
                Store store = RawStore.open(server.port())) {
            assertThat(RawStore.answer(store.writeRecord(new RecordWrite("own", 1, RecordWrite.ANY, "value", DAY))))
                    .isPresent();
            client.getKVClient()
                    .put(new Keys("").record("foreign"), Keys.bytes("9223372036854775808 86400000 1 value"))
                    .join();

            assertThatThrownBy(() -> RawStore.answer(store.readRecord("foreign")))
                    .hasCauseInstanceOf(StoreRefusedException.class);
            assertThat(RawStore.answer(store.listRecords("")))
                    .extracting(StoredRecord::name)
                    .containsExactly("own");
        }
    }

    /** The requests of a client, of which some leave late, or are answered in vain: those that contain a text. */
    private static final class Lines implements ClientInterceptor {
        private final CompletableFuture<Void> goOn = new CompletableFuture<>();
        private final CompletableFuture<Void> ended = new CompletableFuture<>();
        private volatile String held = "\0";
        private volatile String unanswered = "\0";

        Client connect(EtcdServer server) {
            Etcd.load(server.endpoint());
            return Client.builder()
                    .endpoints("http://" + server.endpoint())
                    .interceptor(this)
                    .build();
        }

        void holdRequestsWith(String text) {
            held = text;
        }

        void loseAnswersTo(String text) {
            unanswered = text;
        }

        /** Ends with the answer of the first of them. */
        CompletableFuture<Void> sendHeld() {
            goOn.complete(null);
            return ended;
        }

        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
            AtomicReference<String> sent = new AtomicReference<>("");
            return new SimpleForwardingClientCall<Q, A>(next.newCall(method, options)) {
                @Override
                public void start(Listener<A> listener, Metadata headers) {
                    super.start(
                            new SimpleForwardingClientCallListener<A>(listener) {
                                @Override
                                public void onMessage(A message) {
                                    if (!sent.get().contains(unanswered)) {
                                        super.onMessage(message);
                                    }
                                }

                                @Override
                                public void onClose(Status status, Metadata trailers) {
                                    if (sent.get().contains(held)) {
                                        ended.complete(null);
                                    }
                                    if (!sent.get().contains(unanswered)) {
                                        super.onClose(status, trailers);
                                    }
                                }
                            },
                            headers);
                }

                @Override
                public void sendMessage(Q message) {
                    sent.set(message.toString());
                    whenItMay(() -> super.sendMessage(message));
                }

                @Override
                public void halfClose() {
                    whenItMay(super::halfClose);
                }

                private void whenItMay(Runnable send) {
                    if (sent.get().contains(held)) {
                        goOn.thenRun(send);
                    } else {
                        send.run();
                    }
                }
            };
        }
    }
}
