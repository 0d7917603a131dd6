package dev.holdfast.bench.report;

import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Figure;
import dev.holdfast.bench.run.Ratio;
import dev.holdfast.bench.run.Results;
import dev.holdfast.bench.run.Workload;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * What the peers came to when they were measured beside each other for the first time, by another program on another
 * machine of 2 cores: a bench whose ratios are far from those has to say why.
 */
final class Earlier {
    static final String EXPLANATION =
            "Turns per second over those of the floor (over those of `spring-jdbc` where there"
                    + " was no floor), in brackets the same ratio when another program measured the peers on another machine of"
                    + " 2 cores. Marked where the two are further apart than a factor of 1.5.";

    private static final double CLOSE = 1.5;

    private static final List<String> WORKLOADS =
            List.of(Workload.OWN_1, Workload.OWN_16, Workload.ONE_1X16, Workload.ONE_2X16, Workload.ONE_2X1);

    private static final List<Row> ROWS = List.of(
            row(StoreKind.REDIS, Peers.FLOOR, 6_969, 15_198, 4_333, 535, 1_927),
            row(StoreKind.REDIS, "redisson", 2_450, 2_233, 1_010, 541, 394),
            row(StoreKind.REDIS, "redisson-fair", 1_226, 2_124, 443, 275, 326),
            row(StoreKind.REDIS, "spring-redis", 3_857, 6_807, 2_597, 1_252, 1_290),
            row(StoreKind.REDIS, "spring-redis-pubsub", 2_948, 6_591, 2_403, 510, 531),
            row(StoreKind.ZOOKEEPER, Peers.FLOOR, 924, 3_807, 679, 236, 1_057),
            row(StoreKind.ZOOKEEPER, "curator", 782, 1_885, 182, 95, 505),
            row(StoreKind.MARIADB, "spring-jdbc", 661, 1_009, 399, 432, 590),
            row(StoreKind.MARIADB, "shedlock", 964, 1_374, 163, 65, 665),
            row(StoreKind.POSTGRESQL, "spring-jdbc", 1_008, 1_457, 834, 775, 694),
            row(StoreKind.POSTGRESQL, "shedlock", 584, 1_700, 123, 24, 469));

    private Earlier() {}

    /** Then and now; nothing when no peer was measured. */
    static Optional<Table> table(Results results) {
        List<String> headings = new ArrayList<>(List.of(""));
        WORKLOADS.forEach(workload -> headings.add(Workload.titleOf(workload)));
        Table table = new Table(headings);
        boolean any = false;
        Row base = ROWS.get(0);
        for (Row row : ROWS) {
            if (row.store != base.store) {
                base = row;
            } else if (row != base) {
                List<String> cells = new ArrayList<>(List.of(row.peer + " on " + row.store.title()));
                for (int i = 0; i < WORKLOADS.size(); i++) {
                    Optional<String> cell = compare(results, row, base, i);
                    any |= cell.isPresent();
                    cells.add(cell.orElse("–"));
                }
                table.row(cells);
            }
        }
        return any ? Optional.of(table) : Optional.empty();
    }

    private static Optional<String> compare(Results results, Row row, Row base, int workload) {
        double then = row.perSecond.get(workload) / base.perSecond.get(workload);
        return results.ratio(row.store, WORKLOADS.get(workload), row.peer, base.peer, Figure.TURNS)
                .map(Ratio::median)
                .map(now -> "%s (%s)%s".formatted(Ratio.brief(now), Ratio.brief(then), isClose(now, then) ? "" : " ✗"));
    }

    static boolean isClose(double now, double then) {
        return now <= then * CLOSE && then <= now * CLOSE;
    }

    private static Row row(StoreKind store, String peer, double... perSecond) {
        return new Row(store, peer, Arrays.stream(perSecond).boxed().toList());
    }

    private record Row(StoreKind store, String peer, List<Double> perSecond) {}
}
