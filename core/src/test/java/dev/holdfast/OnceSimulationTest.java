package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Servers that crash, stand still, lose answers and have wrong clocks never run a period twice. */
class OnceSimulationTest {
    private static final Logger LOG = Logger.getLogger("dev.holdfast");

    @BeforeEach
    void expectMuchToBeLost() {
        LOG.setLevel(Level.OFF);
    }

    @AfterEach
    void hearAgain() {
        LOG.setLevel(null);
    }

    @Test
    @Timeout(300)
    void fortyServersNeverCompleteAPeriodTwiceAndNeverTwoAreSureToWork() throws Exception {
        check(7, 40, 300);
    }

    @Test
    @Tag("thorough")
    @Timeout(1800)
    void aThousandServersNeverCompleteOneOfAThousandPeriodsTwice() throws Exception {
        check(Long.getLong("holdfast.once.seed", 1), 1_000, 1_000);
    }

    @Test
    @Tag("thorough")
    @Timeout(300)
    void withoutTheCheckOfTheTokenTheSameWorldCompletesPeriodsTwiceAndOverlaps() throws Exception {
        try (OnceWorld control = new OnceWorld(7, 40, 300, false)) {
            control.run();
            System.out.println(figures("control", control));
            assertThat(control.completedTwice()).isPositive();
            assertThat(control.overlaps).isPositive();
        }
    }

    private static void check(long seed, int servers, int periods) throws Exception {
        try (OnceWorld world = new OnceWorld(seed, servers, periods, true)) {
            world.run();
            System.out.println(figures(servers + " servers, seed " + seed, world));
            assertThat(world.completedTwice()).as("periods completed twice").isZero();
            assertThat(world.validOverlaps).as("two that were sure to be alone").isZero();
            assertThat(world.completed()).as("periods completed").isGreaterThan(periods * 9 / 10);
            assertThat(world.crashes).as("crashes").isPositive();
            assertThat(world.refusedEnds).as("ends that were refused").isPositive();
            assertThat(world.overlaps).as("overlaps of those who were not sure").isPositive();
        }
    }

    private static String figures(String what, OnceWorld world) {
        return what + ": asked " + world.asked + ", periods completed " + world.completed() + ", completed twice "
                + world.completedTwice() + ", overlaps " + world.overlaps + " (of valid ones " + world.validOverlaps
                + "), crashes " + world.crashes + ", pauses " + world.pauses + ", lost requests or answers "
                + world.lostAnswers + ", ends refused " + world.refusedEnds;
    }
}
