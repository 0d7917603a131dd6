package dev.holdfast.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.report.MeasuredFile.Line;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MeasuredPageTest {
    private static final Path COMMITTED = Path.of("../../docs/measured");
    private static final Pattern ID = Pattern.compile(" id=\"([^\"]*)\"");
    private static final Pattern LINK = Pattern.compile(" href=\"#([^\"]*)\"");

    @TempDir
    private Path folder;

    @Test
    void thePageOfTheRepositoryIsTheOneThatItsFilesMake() throws IOException {
        assertThat(Files.readString(COMMITTED.resolve("index.html")))
                .as("'./holdfast bench pictures' writes it again")
                .isEqualTo(MeasuredPage.html(COMMITTED));
    }

    @Test
    void everyFigureOfTheRepositorysFilesIsOnItsPage() throws IOException {
        String page = MeasuredPage.html(COMMITTED);
        for (StoreKind store : StoreKind.values()) {
            List<Line> lines = MeasuredFile.read(COMMITTED, store);
            assertThat(lines)
                    .as(store.title())
                    .isNotEmpty()
                    .allSatisfy(line -> assertThat(page)
                            .contains(line.value()
                                    .replace("&", "&amp;")
                                    .replace("<", "&lt;")
                                    .replace("\"", "&quot;")));
        }
        assertThat(page.split("<td>|<td class", -1))
                .as("the figures, and the text above the first of them")
                .hasSize(1 + figures() + tables());
    }

    private static int figures() throws IOException {
        int figures = 0;
        for (StoreKind store : StoreKind.values()) {
            figures += (int) MeasuredFile.read(COMMITTED, store).stream()
                    .filter(line -> !line.isSentence())
                    .count();
        }
        return figures;
    }

    /** Each has one empty cell, above the names of its rows. */
    private static int tables() throws IOException {
        return MeasuredPage.html(COMMITTED).split("<table>", -1).length - 1;
    }

    @Test
    void theListOfContentsLeadsToEachTableAndNoTwoHaveOneName() throws IOException {
        String page = MeasuredPage.html(COMMITTED);
        List<String> ids = groups(ID, page);
        assertThat(ids).doesNotHaveDuplicates();
        assertThat(groups(LINK, page)).containsExactlyElementsOf(ids);
    }

    private static List<String> groups(Pattern pattern, String text) {
        return pattern.matcher(text)
                .results()
                .map((MatchResult found) -> found.group(1))
                .toList();
    }

    @Test
    void whatIsWrittenInAFileIsNoMarkup() throws IOException {
        keep("own lock\t<b> & \"c\"\tturns/s\t1 < 2");
        assertThat(MeasuredPage.html(folder))
                .contains("<th scope=\"row\">&lt;b&gt; &amp; &quot;c&quot;</th><td>1 &lt; 2</td>");
    }

    @Test
    void withoutPicturesAndNeighboursThePageLinksNone() throws IOException {
        keep("own lock\traw\tturns/s\t1");
        assertThat(MeasuredPage.html(folder))
                .doesNotContain("<img", "benchmarks.md")
                .contains("Redis: own lock");
    }

    @Test
    void aFileOfAnotherVersionIsNotShown() throws IOException {
        keep("own lock\traw");
        assertThatThrownBy(() -> MeasuredPage.html(folder))
                .isInstanceOf(IOException.class)
                .hasMessageContainingAll("redis.tsv", "expected 4 fields: own lock\traw");
        Files.writeString(folder.resolve("redis.tsv"), "table\tvalue\n");
        assertThatThrownBy(() -> MeasuredPage.html(folder)).hasMessageContaining("other columns");
    }

    private void keep(String line) throws IOException {
        Files.write(folder.resolve("redis.tsv"), List.of("table\trow\tcolumn\tvalue", line));
    }
}
