package dev.holdfast.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Plan;
import dev.holdfast.bench.run.ServiceWorkloads;
import dev.holdfast.bench.run.Workload;
import java.util.List;
import org.junit.jupiter.api.Test;

class SelectionTest {
    @Test
    void serviceStandsForAllWorkloadsAtAServicesPaceAndForNothingElse() {
        Selection service = Selection.of(Plan.NORMAL, List.of(), List.of("service"));
        assertThat(service.workloads())
                .extracting(Workload::id)
                .contains(ServiceWorkloads.SERVICE_1X1, ServiceWorkloads.SERVICE_2X16 + ServiceWorkloads.FRESH)
                .allMatch(id -> id.startsWith("service-"));
        assertThat(service.figures() || service.outages() || service.soak() || service.whole())
                .isFalse();
    }

    @Test
    void theServicesPaceComesFirst() {
        assertThat(Workload.ids()).first().isEqualTo(ServiceWorkloads.SERVICE_1X1);
    }

    @Test
    void outagesASoakAndFiguresRunAlone() {
        Selection alone = Selection.of(Plan.NORMAL, List.of("sqlite"), List.of("outages", "soak", "figures"));
        assertThat(alone.stores()).containsExactly(StoreKind.SQLITE);
        assertThat(alone.workloads()).isEmpty();
        assertThat(alone.outages() && alone.soak() && alone.figures()).isTrue();
    }

    @Test
    void onlyARunOfAllThatThereIsOfAStoreMayBeItsPage() {
        assertThat(Selection.of(Plan.NORMAL, List.of(), List.of()).whole()).isTrue();
        assertThat(Selection.of(Plan.NORMAL, List.of("redis"), List.of()).whole())
                .isTrue();
        assertThat(Selection.of(Plan.QUICK, List.of("redis"), List.of()).whole())
                .isFalse();
        assertThat(Selection.of(Plan.NORMAL, List.of("redis"), List.of("own-1")).whole())
                .isFalse();
    }

    @Test
    void aWordThatNamesNothingIsRefusedWithTheKnownOnes() {
        assertThatThrownBy(() -> Selection.of(Plan.NORMAL, List.of(), List.of("servic")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("there is no workload 'servic'")
                .hasMessageContaining("outages");
    }

    @Test
    void roundsAreLongEnoughForTheirQuantiles() {
        Workload slow = Workload.of(ServiceWorkloads.SERVICE_1X1);
        double turns = Plan.NORMAL.roundOf(slow).toMillis() / 1e3 * slow.load().intendedPerSecond();
        assertThat(turns).as("turns of a round, for its p99").isGreaterThan(1_000);
        double all = Plan.FULL.rounds()
                * Plan.FULL.roundOf(slow).toMillis()
                / 1e3
                * slow.load().intendedPerSecond();
        assertThat(all).as("turns of all rounds of a full run, for p99.9").isGreaterThan(10_000);
    }
}
