package dev.holdfast.flashsale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.flashsale.scene.Span;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is sold under each guard, and when a server is stopped or killed. */
class FlashSaleTest extends OnTwoServers {
    private static final Duration LEASE = Duration.ofSeconds(2); // as application.properties sets it

    @Test
    void sixtyFourBuyersAtOnceGetExactlyTheTicketsThereAre() {
        sellsExactlyWhatThereIs("holdfast");
    }

    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"split", "pessimistic", "optimistic"})
    void underEachOtherGuardTheyDoToo(String guard) {
        sellsExactlyWhatThereIs(guard);
    }

    private static void sellsExactlyWhatThereIs(String guard) {
        sale.open(guard, STOCK, 5);

        FlashSale.Figures end = sell(CROWD);

        assertThat(end.tally().sold()).isEqualTo(STOCK);
        assertThat(end.tally().oversold()).isZero();
        assertThat(end.tally().collisions()).isEmpty();
        assertThat(end.remaining()).isZero();
        assertThat(end.tally().orders()).isEqualTo(STOCK);
        assertThat(end.tally().soldBy().values().stream()
                        .mapToLong(Long::longValue)
                        .sum())
                .isEqualTo(STOCK);
        assertThat(end.buyers().answers()).containsEntry("201", STOCK).containsEntry("409", CROWD - STOCK);
    }

    @Test
    void whatNothingGuardsSellsMoreThanThereIs() {
        sellsMoreThanThereIs("none");
    }

    @Test
    @Tag("thorough")
    void whatTwoServersDoNotShareSellsMoreThanThereIs() {
        sellsMoreThanThereIs("synchronized");
    }

    private static void sellsMoreThanThereIs(String guard) {
        sale.open(guard, STOCK, 50); // in which every other order reads the same number

        FlashSale.Figures end = sell(CROWD);

        assertThat(end.tally().oversold()).isPositive();
        assertThat(end.tally().oversold()).isEqualTo(end.tally().sold() - STOCK);
        assertThat(end.tally().collisions()).isNotEmpty();
        assertThat(end.story()).extracting(Span::kind).containsOnlyOnce("sold").contains("twice");
        assertThat(end.story())
                .extracting(Span::value)
                .containsOnly(end.story().get(0).value()); // the same ticket
    }

    @Test
    @Tag("thorough")
    void theOrdersOfAServerAreCountedWhileTheyWaitAndWhileTheyWork() {
        sale.open("holdfast", 2, 1000);
        sale.send(6, 1);

        await().atMost(LONG).until(() -> {
            List<Servers.Figures> nodes = sale.figures().nodes();
            return nodes.stream().mapToInt(Servers.Figures::working).sum() == 1
                    && nodes.stream().mapToInt(Servers.Figures::waiting).sum() == 5;
        });
        awaitQuiet();
        await().atMost(LONG)
                .until(() -> sale.figures().nodes().stream().allMatch(node -> node.waiting() + node.working() == 0));
    }

    @Test
    @Tag("thorough")
    void theRunsBeforeStandSideBySideTheLastOfEachGuard() {
        sale.open("pessimistic", STOCK, 0);
        sell(10);
        sale.open("pessimistic", 7, 0);
        sell(CROWD);
        sale.open("optimistic", 8, 0);
        FlashSale.Figures last = sell(CROWD);
        sale.open("none", STOCK, 0);

        List<Results.Result> results = sale.figures().results();

        assertThat(results)
                .filteredOn(result -> result.guard().equals("pessimistic"))
                .singleElement()
                .satisfies(result -> assertThat(result.sold()).isEqualTo(7));
        assertThat(results)
                .filteredOn(result -> result.guard().equals("optimistic"))
                .singleElement()
                .satisfies(result -> assertThat(result.buyers()).isEqualTo(last.buyers()));
    }

    @Test
    @Tag("thorough")
    void aServerThatIsKilledInMidSaleSellsNothingTwiceAndLosesNothing() throws InterruptedException {
        sale.open("holdfast", 150, 5);
        sale.send(300, 1);
        await().until(() -> sale.figures().tally().sold() > 10);

        sale.servers().kill(2);
        awaitQuiet();

        FlashSale.Figures end = sale.figures();
        assertThat(end.nodes().get(1).state()).isEqualTo("DOWN");
        assertThat(end.tally().sold()).isEqualTo(150);
        assertThat(end.tally().orders()).isEqualTo(150);
        assertThat(end.remaining()).isZero();
        assertThat(end.buyers().answers()).containsEntry("201", 150).containsEntry("409", 150);

        sale.open("holdfast", STOCK, 5);
        assertThat(sell(CROWD).tally().soldBy()).containsOnly(Map.entry("1", (long) STOCK));

        sale.servers().restart(2);
        sale.servers().kill(1);
        sale.open("holdfast", STOCK, 5);
        assertThat(sell(CROWD).tally().soldBy()).containsOnly(Map.entry("2", (long) STOCK));
        sale.servers().restart(1);
    }

    @Test
    @Tag("thorough")
    void afterTheHolderOfTheLockIsKilledTheSaleGoesOnWithinItsLease() throws InterruptedException {
        sale.open("holdfast", 100, 5);
        sale.servers().killInNextOrder(2);
        sale.send(200, 1);

        Duration standstill = longestStandstill(sale);

        assertThat(sale.figures().nodes().get(1).state()).isEqualTo("DOWN");
        assertThat(sale.figures().story())
                .filteredOn(span -> span.kind().equals("killed"))
                .extracting(Span::lane)
                .containsExactly("2");
        assertThat(standstill).isLessThan(LEASE.plusSeconds(10)); // a lock that is left behind keeps all out for 30 s
        assertThat(sale.figures().tally().sold()).isEqualTo(100);
        assertThat(sale.figures().buyers().answers()).containsEntry("201", 100).containsEntry("409", 100);
        sale.servers().restart(2);
    }

    @Test
    void aServerThatIsStoppedPastItsLeaseIsRefusedByTheFence() {
        sale.open("holdfast", STOCK, 5);
        sale.servers().pause(1);

        FlashSale.Figures end = sell(CROWD);

        assertThat(end.struck().paused()).isEqualTo(1);
        assertThat(end.tally().refused())
                .isNotEmpty()
                .allMatch(late -> Long.parseLong(late.token()) < Long.parseLong(late.admitted()));
        assertThat(end.story())
                .filteredOn(span -> span.kind().equals("late"))
                .singleElement()
                .satisfies(late -> {
                    assertThat(late.lane()).isEqualTo("1");
                    assertThat(late.to() - late.from()).isGreaterThan(LEASE.toMillis());
                });
        assertThat(end.story()).extracting(Span::lane).contains("2"); // by which it was overtaken
        assertThat(end.tally().sold()).isEqualTo(STOCK);
    }

    @Test
    @Tag("thorough")
    void aLockThatIsTakenFromItsHolderSellsNothingTwice() {
        sale.open("holdfast", STOCK, 50);
        sale.send(CROWD, 1);

        int taken = 0;
        while (!sale.isQuiet() && taken < 3) {
            try {
                sale.expire();
                taken++;
            } catch (Refused nobody) {
                assertThat(nobody).hasMessage("nobody holds a lock of Holdfast");
            }
        }
        awaitQuiet();

        assertThat(taken).isEqualTo(3);
        assertThat(sale.figures().struck().expired()).isEqualTo(3);
        assertThat(sale.figures().tally().sold()).isEqualTo(STOCK);
        assertThat(sale.figures().tally().collisions()).isEmpty();
    }

    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"holdfast", "split", "pessimistic", "optimistic"})
    void twoWhoWithdrawTooMuchAtOnceAreNotBothPaid(String guard) {
        Couple.Account account = withdraw(guard, 20);

        assertThat(account.withdrawals().answers()).containsEntry("201", 1).containsEntry("409", 1);
        assertThat(account.paid()).isIn(100L, 150L);
        assertThat(account.balance()).isEqualTo(200 - account.paid());
    }

    @Test
    @Tag("thorough")
    void anAccountThatNothingGuardsPaysBoth() {
        // the other is to read the same balance meanwhile; on a busy machine it may come too late
        await().atMost(LONG).until(() -> withdraw("none", 500).paid() == 250);

        Couple.Account account = sale.figures().couple();
        assertThat(account.paid()).isEqualTo(250);
        assertThat(account.balance()).isIn(50L, 100L);
    }

    private static Couple.Account withdraw(String guard, int gapMillis) {
        sale.withdraw(guard, gapMillis);
        awaitQuiet();
        return sale.figures().couple();
    }
}
