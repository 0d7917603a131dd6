package dev.holdfast.flashsale;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import us.abstracta.jmeter.javadsl.core.DslTestPlan;
import us.abstracta.jmeter.javadsl.core.TestPlanStats;
import us.abstracta.jmeter.javadsl.core.engines.EmbeddedJmeterEngine;
import us.abstracta.jmeter.javadsl.core.stats.StatsSummary;

/** The plan for JMeter, against two servers; compiled and run with {@code -Pattack} alone. */
class AttackTest extends OnTwoServers {
    private static final int BUYERS = 64;
    private static final int ORDERS = 5;

    @Test
    void holdfastAnswersEachOrderAndSellsNothingTwice() throws Exception {
        sale.open("holdfast", 100, 0);

        TestPlanStats answers = attack();

        assertThat(answers.overall().samplesCount()).isEqualTo((long) BUYERS * ORDERS);
        assertThat(answers.overall().errorsCount()).isZero();
        FlashSale.Figures end = sale.figures();
        assertThat(end.tally().sold()).isPositive().isEqualTo(100 - end.remaining());
        assertThat(end.tally().collisions()).isEmpty();
    }

    @Test
    void withNothingToGuardThemTicketsAreSoldTwice() throws Exception {
        sale.open("none", 100, 20);

        attack();

        assertThat(sale.figures().tally().oversold()).isPositive();
    }

    private static TestPlanStats attack() throws IOException, InterruptedException, TimeoutException {
        TestPlanStats answers = DslTestPlan.fromJmx("attack/sale.jmx")
                .runIn(new EmbeddedJmeterEngine()
                        // As text: JMeter takes the plan's own value in place of a number.
                        .prop("port", "" + sale.address().getPort())
                        .prop("buyers", "" + BUYERS)
                        .prop("orders", "" + ORDERS));
        StatsSummary all = answers.overall();
        System.out.printf(
                "JMeter: %d orders, %d of them answered otherwise; %.0f a second; ms: median %d, 99 %% %d, longest %d%n",
                all.samplesCount(),
                all.errorsCount(),
                all.samples().perSecond(),
                all.sampleTime().median().toMillis(),
                all.sampleTime().perc99().toMillis(),
                all.sampleTime().max().toMillis());
        return answers;
    }
}
