package dev.holdfast.recipes;

import static dev.holdfast.recipes.Clients.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockClient;
import dev.holdfast.OnceOptions;
import dev.holdfast.recipes.IdempotentConsumer.Handled;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A message is handled once, however often it is delivered. */
class IdempotentConsumerTest {
    private static final Duration KEEP = Duration.ofHours(1);

    @AutoClose
    private final Clients clients = new Clients(4);

    private final AtomicInteger booked = new AtomicInteger();

    private IdempotentConsumer orders(int client) {
        return IdempotentConsumer.of(clients.get(client), "orders", KEEP);
    }

    @Test
    void ofManyDeliveriesAtATimeOneIsHandled() throws Exception {
        List<Future<Handled>> deliveries = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            IdempotentConsumer orders = orders(i);
            deliveries.add(clients.start(() -> orders.handle("7", turn -> booked.incrementAndGet())));
        }
        List<Handled> handled = new ArrayList<>();
        for (Future<Handled> delivery : deliveries) {
            handled.add(resultOf(delivery));
        }
        assertThat(handled).containsOnlyOnce(Handled.NOW);
        assertThat(booked).hasValue(1);
        assertThat(orders(1).handle("7", turn -> booked.incrementAndGet())).isEqualTo(Handled.BEFORE);
        assertThat(orders(1).handle("8", turn -> booked.incrementAndGet())).isEqualTo(Handled.NOW);
        assertThat(booked).hasValue(2);
    }

    @Test
    void messagesWhoseConsumerAndIdOnlyReadTheSameTogetherAreAllHandled() {
        String[][] messages = {{"orders/eu", "7"}, {"orders", "eu/7"}, {"orders\\/eu", "7"}, {"orders\\", "eu/7"}};
        for (String[] message : messages) {
            IdempotentConsumer consumer = IdempotentConsumer.of(clients.get(0), message[0], KEEP);
            assertThat(consumer.handle(message[1], turn -> booked.incrementAndGet()))
                    .isEqualTo(Handled.NOW);
        }
        assertThat(booked).hasValue(messages.length);
    }

    @Test
    @Tag("thorough")
    void aMessageThatAnotherConsumerHandlesIsNotDoneYet() throws Exception {
        Gate gate = new Gate();
        Future<Handled> first = clients.start(() -> orders(0).handle("7", turn -> gate.pass()));
        gate.awaitArrival();

        Handled second = orders(1).handle("7", turn -> booked.incrementAndGet());
        assertThat(second).isEqualTo(Handled.NOT_YET);
        assertThat(second.isDone()).isFalse();
        gate.open();
        assertThat(resultOf(first).isDone()).isTrue();
        assertThat(booked).hasValue(0);
    }

    @Test
    void aHandlerThatThrowsHasNotHandledTheMessage() throws IOException {
        assertThatThrownBy(() -> orders(0).handle("7", turn -> {
                    throw new IOException("no disk");
                }))
                .isInstanceOf(IOException.class)
                .hasMessage("no disk");

        assertThat(orders(1).handle("7", turn -> booked.incrementAndGet())).isEqualTo(Handled.NOW);
    }

    /** Its process stood still, and its lock was given to the next delivery. */
    @Test
    void aConsumerThatWasOvertakenDoesNotCountAsHandled() throws Exception {
        Gate gate = new Gate();
        Future<Handled> late = clients.start(() -> orders(0).handle("7", turn -> gate.pass()));
        gate.awaitArrival();
        LockClient other = clients.get(1);
        long token = other.lock("orders/7").status().grant().orElseThrow().token();
        assertThat(other.breakGrant("orders/7", token, true)).isTrue();

        assertThat(orders(1).handle("7", turn -> booked.incrementAndGet())).isEqualTo(Handled.NOW);
        gate.open();
        assertThatThrownBy(() -> resultOf(late)).hasMessageContaining("orders/7");
        assertThat(booked).hasValue(1);
    }

    @Test
    void aMessageHasNoPeriod() {
        assertThatThrownBy(() -> IdempotentConsumer.of(clients.get(0), "orders", OnceOptions.every(KEEP)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the consumer 'orders'");
    }
}
