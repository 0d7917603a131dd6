package dev.holdfast.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChartsTest {
    private static final Pattern STYLE = Pattern.compile(" style=\"([^\"]*)\"");
    private static final Pattern COLOUR = Pattern.compile("(?:fill|stroke):rgb\\([^)]*\\)");
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
    void rowsOfAnotherVersionAreNotDrawn() throws IOException {
        Files.write(folder.resolve("bench-redis.tsv"), List.of("store\tlibrary", ROW));
        assertThatThrownBy(() -> new Charts(folder).draw(StoreKind.REDIS))
                .isInstanceOf(IOException.class)
                .hasMessageContainingAll("bench-redis.tsv", "./holdfast bench --only redis");
    }

    @Test
    void everyColourOfAPictureHasAnotherForDarkPages() throws IOException {
        keep(StoreKind.REDIS, ROW, ROW.replace("redisson", "holdfast"), ROW.replace("redisson", "raw"));
        keep(StoreKind.ZOOKEEPER, row("zookeeper", "one-2x1", "curator"), row("zookeeper", "one-2x16", "curator"));
        Charts charts = new Charts(folder);
        assertThat(charts.draw(StoreKind.REDIS)).containsOnlyKeys("the wait for a free lock");
        assertThat(charts.draw(StoreKind.ZOOKEEPER)).hasSize(3);
        assertThat(charts.drawAllServers()).isTrue();
        try (Stream<Path> files =
                Files.list(folder).filter(file -> file.toString().endsWith(".svg"))) {
            assertThat(files).hasSize(5).allSatisfy(file -> {
                String svg = Files.readString(file);
                assertThat(colours(svg))
                        .isNotEmpty()
                        .allSatisfy(colour -> assertThat(svg).contains("[style*=\"" + colour + "\"]{"));
            });
        }
    }

    private static List<String> colours(String svg) {
        return STYLE.matcher(svg)
                .results()
                .flatMap(style -> COLOUR.matcher(style.group(1)).results())
                .map(MatchResult::group)
                .distinct()
                .toList();
    }

    @Test
    void whatIsMissingOrBeyondTheAxisDoesNotStopThePicture() throws IOException {
        keep(
                StoreKind.POSTGRESQL,
                ROW.replace("redis\t", "postgresql\t")
                        .replace("redisson", "raw")
                        .replace("0.46", "NaN"),
                row("postgresql", "one-2x1", "shedlock"),
                row("postgresql", "one-2x16", "shedlock")
                        .replace("20.0", "1000000.0")
                        .replace("1.0\t2.0", "0.0\tNaN"));
        Charts charts = new Charts(folder);
        assertThat(charts.draw(StoreKind.POSTGRESQL).values())
                .containsExactly("bench-postgresql-throughput", "bench-postgresql-waits", "bench-postgresql-cost");
        assertThat(charts.drawAllServers()).isFalse();
    }

    @Test
    void eachLibraryOfAStoreHasANameOfItsOwn() {
        assertThat(StoreKind.values())
                .allSatisfy(store ->
                        assertThat(Peers.on(store)).extracting(PeerKind::title).doesNotHaveDuplicates());
    }

    @Test
    void withoutRowsNothingIsDrawn() throws IOException {
        Charts charts = new Charts(folder);
        assertThat(charts.draw(StoreKind.REDIS)).isEqualTo(Map.of());
        assertThat(charts.drawAllServers()).isFalse();
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
