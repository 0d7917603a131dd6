package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The verdict of the demo: it must not be able to praise a lock that failed. */
class SaleReportTest {
    private static final Sale FIRST = new Sale(3, 10, 1_000_000, 1_500_000);
    private static final Sale SECOND = new Sale(2, 20, 2_000_000, 2_000_000);
    private static final Sale THIRD = new Sale(1, 30, 9_000_000, 2_500_000);

    @Test
    void isRightWhenEachTicketWasSoldOnceUnderRisingTokens() {
        SaleReport report = report(THIRD, FIRST, SECOND);

        assertThat(report.isRight()).isTrue();
        assertThat(report.sentence()).contains("Holdfast sold exactly 3, each under a higher token");
    }

    @Test
    void isWrongWhenOneTooManyWasSold() {
        SaleReport report = report(FIRST, SECOND, THIRD, THIRD);

        assertThat(report.isRight()).isFalse();
        assertThat(report.fault()).contains("4 tickets");
        assertThat(report.sentence()).contains("Holdfast sold 4 tickets of 3.");
    }

    @Test
    void isWrongWhenTheNumberIsRightButATicketWasSoldTwice() {
        assertThat(report(FIRST, SECOND, SECOND).isRight()).isFalse();
    }

    @Test
    void isWrongWhenATokenFellOrCameTwice() {
        assertThat(report(FIRST, SECOND, new Sale(1, 15, 0, 1)).fault()).contains("tokens");
        assertThat(report(FIRST, SECOND, new Sale(1, 20, 0, 1)).isRight()).isFalse();
    }

    @Test
    void countsWhatWasOversoldAndHowLongBuyersWaited() {
        SaleRun run = new SaleRun(SaleLock.NONE, 2, 2_000_000_000L, List.of(FIRST, SECOND, THIRD));

        assertThat(run.oversold()).isEqualTo(1);
        assertThat(run.perSecond()).isEqualTo(1.5);
        assertThat(run.p99WaitMillis()).isEqualTo(9);
        assertThat(new SaleRun(SaleLock.NONE, 2, 1, List.of()).p99WaitMillis()).isZero();
    }

    @Test
    void saysHowManySalesASecondAnyLockAllowsAndWhichShareHoldfastReached() {
        SaleRun run = new SaleRun(SaleLock.HOLDFAST, 3, 10_000_000, List.of(FIRST, SECOND, THIRD));
        SaleReport report = new SaleReport(
                "sqlite:x",
                3,
                2,
                1,
                List.of(
                        new SaleRun(SaleLock.NONE, 3, 1, List.of(FIRST)),
                        new SaleRun(SaleLock.SYNCHRONIZED, 3, 1, List.of(FIRST)),
                        run));

        assertThat(run.mostPerSecond()).isEqualTo(500);
        assertThat(report.sentence())
                .contains("One sale works for 2.0 ms", "500 a second at most", "Holdfast reached 60 % of that.");
    }

    private static SaleReport report(Sale... underHoldfast) {
        List<Sale> exact = List.of(FIRST, SECOND, THIRD);
        return new SaleReport(
                "sqlite:x",
                3,
                2,
                1,
                List.of(
                        new SaleRun(SaleLock.NONE, 3, 1, exact),
                        new SaleRun(SaleLock.SYNCHRONIZED, 3, 1, exact),
                        new SaleRun(SaleLock.HOLDFAST, 3, 1, List.of(underHoldfast))));
    }
}
