package dev.holdfast.recipes;

import static dev.holdfast.recipes.Clients.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nothing is sold twice, and every last piece is found. */
class SplitStockTest {
    private static final int SEGMENTS = 16;

    @AutoClose
    private final Clients clients = new Clients(4);

    private final Table table = new Table(SEGMENTS);

    private SplitStock tickets(int client) {
        return SplitStock.of(clients.get(client), "tickets", SEGMENTS, table);
    }

    @Test
    void aThousandPiecesAreSoldExactly() throws Exception {
        tickets(0).fill(1_000);
        List<Future<Integer>> buyers = new ArrayList<>();
        for (int i = 0; i < 32; i++) {
            SplitStock tickets = tickets(i);
            buyers.add(clients.start(() -> {
                int bought = 0;
                while (tickets.take(1)) {
                    bought++;
                }
                return bought;
            }));
        }
        int sold = 0;
        for (Future<Integer> buyer : buyers) {
            sold += resultOf(buyer);
        }
        assertThat(sold).isEqualTo(1_000);
        assertThat(tickets(0).left()).isZero();
    }

    @RepeatedTest(3)
    @Tag("thorough")
    void piecesThatAreTakenPutBackAndSpreadStayAsManyAsTheyWere() throws Exception {
        tickets(0).fill(100);
        List<Future<Long>> traders = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            SplitStock tickets = tickets(i);
            boolean spreads = i == 0;
            traders.add(clients.start(() -> {
                long kept = 0;
                for (int turn = 0; turn < 50; turn++) {
                    long wanted = ThreadLocalRandom.current().nextLong(1, 20);
                    if (tickets.take(wanted)) {
                        kept += wanted;
                    } else if (kept > 0) {
                        tickets.putBack(kept);
                        kept = 0;
                    }
                    if (spreads && turn % 10 == 0) {
                        tickets.rebalance();
                    }
                }
                return kept;
            }));
        }
        long kept = 0;
        for (Future<Long> trader : traders) {
            kept += resultOf(trader);
        }
        assertThat(tickets(0).left() + kept).isEqualTo(100);
    }

    @Test
    void piecesAreFoundInAnySegment() throws InterruptedException {
        table.segments.set(7, new Segment(7, 2, 0));

        assertThat(tickets(0).take(2)).isTrue();
        assertThat(tickets(0).take(1)).isFalse();
    }

    @Test
    void piecesAreTakenFromSeveralSegmentsWhereNoneHasEnough() throws InterruptedException {
        tickets(0).fill(SEGMENTS);

        assertThat(tickets(0).take(SEGMENTS + 1)).isFalse();
        assertThat(tickets(0).left()).as("all or none").isEqualTo(SEGMENTS);
        assertThat(tickets(0).take(SEGMENTS)).isTrue();
        assertThat(tickets(0).left()).isZero();
    }

    /** The segments are the stock: whatever number somebody has in mind, what they hold is sold, and no more. */
    @Test
    @Tag("thorough")
    void segmentsThatSumToLessThanTheStockSellWhatTheyHave() throws InterruptedException {
        table.segments.set(0, new Segment(0, 3, 0));
        table.segments.set(9, new Segment(9, 4, 0));

        assertThat(tickets(0).take(10)).isFalse();
        assertThat(tickets(0).left()).isEqualTo(7);
        assertThat(tickets(0).take(7)).isTrue();
        assertThat(tickets(0).take(1)).isFalse();
    }

    /** A delivery comes, or pieces break: another program writes a segment between the reading and the writing of a buyer. */
    @Test
    void aStockThatIsChangedFromOutsideIsReadAgain() throws Exception {
        table.segments.set(0, new Segment(0, 5, 7));
        Gate gate = table.stopNextWriter();
        Future<Boolean> buyer = clients.start(() -> one(0).take(2));
        gate.awaitArrival();
        table.segments.set(0, new Segment(0, 3, 7)); // other pieces, the same token
        gate.open();

        assertThat(resultOf(buyer)).isTrue();
        assertThat(table.segments.get(0).left()).isEqualTo(1);
    }

    @Test
    @Tag("thorough")
    void spreadingMakesTheSegmentsEqual() throws InterruptedException {
        table.segments.set(3, new Segment(3, 33, 0));

        tickets(0).rebalance();

        assertThat(table.read()).extracting(Segment::left).allMatch(left -> left == 2 || left == 3);
        assertThat(tickets(0).left()).isEqualTo(33);
    }

    @Test
    @Tag("thorough")
    void aStockThatIsSoldOutTakesNoLock() throws InterruptedException {
        try (LockClient client = LockClient.connect("mem:")) {
            SplitStock empty = SplitStock.of(client, "tickets", SEGMENTS, table);
            for (int i = 0; i < 10; i++) {
                assertThat(empty.take(1)).isFalse();
            }
            assertThat(client.statistics().claims()).isZero();
        }
    }

    /** The late buyer writes between the reading and the writing of the next one. */
    @Test
    void aPieceIsNotSoldTwiceAfterALockWasLost() throws Exception {
        table.segments.set(0, new Segment(0, 5, 0));
        Gate late = table.stopNextWriter();
        Future<Boolean> first = clients.start(() -> one(0).take(4));
        late.awaitArrival();
        breakHolder();
        Gate next = table.stopNextWriter();
        Future<Boolean> second = clients.start(() -> one(1).take(3));
        next.awaitArrival();
        late.open();

        assertThat(resultOf(first)).isTrue();
        next.open();
        assertThat(resultOf(second)).as("one piece is left").isFalse();
        assertThat(table.segments.get(0).left()).isEqualTo(1);
    }

    @Test
    void aBuyerThatLostItsLockToAFasterOneBeginsAgain() throws Exception {
        table.segments.set(0, new Segment(0, 5, 0));
        Gate gate = table.stopNextWriter();
        Future<Boolean> late = clients.start(() -> one(0).take(5));
        gate.awaitArrival();
        breakHolder();
        assertThat(one(1).take(3)).isTrue();
        gate.open();

        assertThat(resultOf(late)).as("two pieces are left").isFalse();
        assertThat(one(1).take(2)).isTrue();
    }

    @Test
    void anInterruptedBuyerTakesNothing() throws Exception {
        table.segments.set(0, new Segment(0, 5, 0));
        try (Hold held = clients.get(1).lock("tickets/0").acquire()) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> one(0).take(1)).isInstanceOf(InterruptedException.class);
            assertThat(held.isValid()).isTrue();
        }
        assertThat(one(0).left()).isEqualTo(5);
    }

    private SplitStock one(int client) {
        return SplitStock.of(clients.get(client), "tickets", 1, table.first());
    }

    private void breakHolder() {
        LockClient other = clients.get(1);
        long token = other.lock("tickets/0").status().grant().orElseThrow().token();
        assertThat(other.breakGrant("tickets/0", token, true)).isTrue();
    }

    @Test
    void segmentsOutOfOrderAreRefused() {
        Segments shuffled = new Segments() {
            @Override
            public List<Segment> read() {
                return List.of(new Segment(1, 5, 0), new Segment(0, 5, 0));
            }

            @Override
            public boolean write(List<Change> changes) {
                throw new AssertionError("written");
            }
        };
        assertThatThrownBy(() ->
                        SplitStock.of(clients.get(0), "tickets", 2, shuffled).take(1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("in the order of their numbers");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 101})
    void aNumberOfSegmentsOutOfRangeIsRefused(int size) {
        assertThatThrownBy(() -> SplitStock.of(clients.get(0), "tickets", size, table))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the stock 'tickets' needs 1 to 100 segments");
    }

    @Test
    void optionsThatCannotHoldSeveralSegmentsAreRefusedBeforeTheSale() {
        HoldOptions retaining = HoldOptions.defaults().retain(Duration.ofSeconds(10));
        assertThatThrownBy(() -> SplitStock.of(clients.get(0), "tickets", SEGMENTS, table, retaining))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("leave retain off");
    }

    @Test
    void aProgramWithAnotherNumberOfSegmentsIsRefused() {
        assertThatThrownBy(
                        () -> SplitStock.of(clients.get(0), "tickets", 8, table).take(1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("has 8 segments, but Segments.read() returned 16");
    }

    @Test
    void aSegmentWithLessThanNothingIsNamed() {
        assertThatThrownBy(() -> new Segment(3, -1, 0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("segment 3 has -1 pieces");
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -5})
    void lessThanOnePieceCannotBeTakenOrPutBack(long pieces) {
        assertThatThrownBy(() -> tickets(0).take(pieces)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> tickets(0).putBack(pieces)).isInstanceOf(IllegalArgumentException.class);
    }

    /** Rows with a column for the token, written in one transaction. */
    private static final class Table implements Segments {
        final List<Segment> segments = new ArrayList<>();
        private volatile Gate writers = opened();

        Table(int size) {
            IntStream.range(0, size).forEach(number -> segments.add(new Segment(number, 0, 0)));
        }

        @Override
        public List<Segment> read() {
            synchronized (segments) {
                return List.copyOf(segments);
            }
        }

        @Override
        public boolean write(List<Change> changes) {
            Gate gate = writers;
            writers = opened();
            gate.pass();
            synchronized (segments) {
                boolean asRead = changes.stream()
                        .allMatch(change -> segments.get(change.read().number()).equals(change.read()));
                if (asRead) {
                    changes.forEach(change -> segments.set(change.read().number(), change.changed()));
                }
                return asRead;
            }
        }

        /** The first segment as a stock of its own. */
        Segments first() {
            return new Segments() {
                @Override
                public List<Segment> read() {
                    return Table.this.read().subList(0, 1);
                }

                @Override
                public boolean write(List<Change> changes) {
                    return Table.this.write(changes);
                }
            };
        }

        Gate stopNextWriter() {
            Gate gate = new Gate();
            writers = gate;
            return gate;
        }

        private static Gate opened() {
            Gate gate = new Gate();
            gate.open();
            return gate;
        }
    }
}
