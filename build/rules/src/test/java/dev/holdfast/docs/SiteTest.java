package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Writes the site, to {@code -Dholdfast.site} or else to {@code site/docs} of this module's target folder, and follows each of
 * its links.
 */
class SiteTest {
    // after a blank: ":href" is an attribute that a script of the page computes
    private static final Pattern LINK = Pattern.compile("(?<=\\s)(?:href|src)=\"(?![a-z]+:)([^\"#]*)(?:#([^\"]*))?\"");
    private static Path site;

    @BeforeAll
    static void write() throws IOException, URISyntaxException {
        Path classes = Path.of(SiteTest.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        String asked = System.getProperty("holdfast.site");
        site = asked == null ? classes.resolveSibling("site").resolve("docs") : Path.of(asked);
        new Site(PagesTest.projectRoot(), site).write(PagesTest.pages());
    }

    @Test
    void everyPageOfTheRepositoryIsOnTheSite() throws IOException {
        assertThat(site.resolve("index.html")).content().contains("try (Hold hold = lock.acquire())");
        assertThat(site.resolve("docs/index.html")).exists();
        assertThat(site.resolve("docs/internals/decisions/index.html")).exists();
        assertThat(html()).hasSizeGreaterThan(PagesTest.pages().size());
    }

    @Test
    void everyLinkLeadsToAFileAndAHeadingOfTheSite() throws IOException {
        Map<Path, String> pages = new HashMap<>();
        for (Path page : html()) {
            pages.put(page, Files.readString(page));
        }
        pages.forEach((page, text) -> {
            Matcher link = LINK.matcher(text);
            while (link.find()) {
                Path target = link.group(1).isEmpty()
                        ? page
                        : page.resolveSibling(link.group(1)).normalize();
                assertThat(target).as("linked from " + page).isRegularFile();
                if (link.group(2) != null) {
                    assertThat(pages.get(target))
                            .as("%s, linked from %s", target, page)
                            .contains(" id=\"" + link.group(2) + "\"");
                }
            }
        });
    }

    private static List<Path> html() throws IOException {
        try (Stream<Path> files = Files.walk(site)) {
            return files.filter(file -> file.toString().endsWith(".html"))
                    .filter(file -> !file.startsWith(site.resolve("api"))) // javadoc follows its own
                    .toList();
        }
    }
}
