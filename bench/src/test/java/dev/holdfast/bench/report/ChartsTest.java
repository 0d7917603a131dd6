package dev.holdfast.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.bench.peer.StoreKind;
import java.awt.Color;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChartsTest {
    private static final Pattern COLOUR = Pattern.compile("style=\"[^\"]*?rgb\\((\\d+),(\\d+),(\\d+)\\)");
    private static final String ROW = "redis\tservice-1x1\tredisson\t1\t83.2\t0.46\t0.9\t1.13\tNaN\t495.0\t198.0";

    @TempDir
    private Path folder;

    @Test
    void aRowThatIsKeptIsReadAgain() {
        DrawnRow row = DrawnRow.parse(ROW);
        assertThat(row.toLine()).isEqualTo(ROW);
        assertThat(row.peer().title()).isEqualTo("Redisson");
        assertThat(row.waitAt(99)).isEqualTo(1.13);
        assertThat(row.waitAt(99.9)).isNaN();
    }

    @Test
    void aRowThatIsDamagedIsNotDrawn() {
        assertThatThrownBy(() -> DrawnRow.parse("redis\tservice-1x1"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("expected 11 fields: redis\tservice-1x1");
        assertThatThrownBy(() -> DrawnRow.parse(ROW.replace("redis\t", "oracle\t")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("there is no store oracle");
    }

    @Test
    void everyColourOfAPictureHasAnotherForDarkPages() throws IOException {
        keep(StoreKind.REDIS, ROW, ROW.replace("redisson", "holdfast"), ROW.replace("redisson", "raw"));
        keep(StoreKind.ZOOKEEPER, row("zookeeper", "one-2x1", "curator"), row("zookeeper", "one-2x16", "curator"));
        Charts charts = new Charts(folder);
        assertThat(charts.draw(StoreKind.REDIS)).containsOnlyKeys("the wait for a free lock");
        assertThat(charts.draw(StoreKind.ZOOKEEPER)).hasSize(3);
        charts.drawFreeLocks();
        List<Color> known = Arrays.stream(Shade.values()).map(Shade::light).toList();
        try (Stream<Path> files =
                Files.list(folder).filter(file -> file.toString().endsWith(".svg"))) {
            assertThat(files).hasSize(5).allSatisfy(file -> {
                String svg = Files.readString(file);
                assertThat(svg).contains("<style>@media (prefers-color-scheme: dark)");
                assertThat(COLOUR.matcher(svg)
                                .results()
                                .map(colour -> new Color(
                                        Integer.parseInt(colour.group(1)),
                                        Integer.parseInt(colour.group(2)),
                                        Integer.parseInt(colour.group(3)))))
                        .isNotEmpty()
                        .isSubsetOf(known);
            });
        }
    }

    @Test
    void withoutRowsNothingIsDrawn() throws IOException {
        Charts charts = new Charts(folder);
        assertThat(charts.draw(StoreKind.REDIS)).isEqualTo(Map.of());
        charts.drawFreeLocks();
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void namesAtTheEndsOfLinesDoNotCoverEachOther() {
        assertThat(LineChart.apart(List.of(0.0, 10.0, 100.0), 20)).containsExactly(-5.0, 15.0, 100.0);
        List<Double> moved = LineChart.apart(List.of(50.0, 50.0, 51.0, 52.0, 300.0), 20);
        for (int i = 1; i < moved.size(); i++) {
            assertThat(moved.get(i) - moved.get(i - 1)).isGreaterThan(19.9);
        }
    }

    private void keep(StoreKind store, String... rows) throws IOException {
        Files.write(
                folder.resolve("bench-" + store.id() + ".tsv"),
                Stream.concat(Stream.of(DrawnRow.head()), Stream.of(rows)).toList());
    }

    private static String row(String store, String workload, String peer) {
        return String.join("\t", store, workload, peer, "32", "1000.0", "1.0", "2.0", "3.0", "4.0", "10.0", "20.0");
    }
}
