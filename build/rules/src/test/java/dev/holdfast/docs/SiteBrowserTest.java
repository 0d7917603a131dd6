package dev.holdfast.docs;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testbed.Chromium;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.By;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.logging.LogType;

/** The site in a real browser, from its files as they are. */
@Tag("thorough") // that each link leads somewhere, SiteTest says everyday
class SiteBrowserTest {
    /** Of the text that is read, to its ground: WCAG 2, level AA, 1.4.3. */
    private static final double LEAST_CONTRAST = 4.5;

    private static final Duration LONG = Duration.ofSeconds(30);

    @TempDir
    private static Path site;

    @AutoClose
    private static Chromium browser;

    @BeforeAll
    static void write() throws IOException {
        browser = orSkip(Chromium::start);
        new Site(PagesTest.projectRoot(), site).write(PagesTest.pages());
    }

    @ParameterizedTest
    @CsvSource({
        "fencing, docs/fencing.html",
        "sentinel, docs/redis-many-servers.html",
        "onWanted, docs/concepts.html",
        "strictFifo, docs/",
        "holdfast.unlogged, docs/sql-servers.html",
        "shedlock, docs/migration.html",
        "pgbouncer, docs/sql-servers.html",
        "leader, docs/leader-election.html",
        "cron, docs/cron-and-systemd.html",
        "evict, docs/memcached-store.html"
    })
    void searchFindsAWord(String word, String page) {
        open("index.html");
        WebElement field = browser.driver().findElement(By.id("search"));

        field.sendKeys(word);

        await().atMost(LONG)
                .untilAsserted(() -> assertThat(all("#found a"))
                        .anyMatch(link -> link.getDomProperty("href").contains(page)));
        assertThat(all("#found a"))
                .anyMatch(link -> link.getText().toLowerCase(Locale.ROOT).contains(word.toLowerCase(Locale.ROOT)));
    }

    @Test
    void searchFindsAPageByItsSlashKeyAndOpensItAtTheHeading() {
        open("docs/quick-start.html");
        browser.driver().findElement(By.tagName("body")).sendKeys("/");
        browser.driver().switchTo().activeElement().sendKeys("acks");
        await().atMost(LONG).until(() -> !all("#found a").isEmpty());

        all("#found a").get(0).click();

        await().atMost(LONG).until(() -> browser.driver().getCurrentUrl().contains("#"));
        assertThat(browser.driver().findElement(By.cssSelector(":target")).isDisplayed())
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"index.html", "docs/guarantees.html", "docs/reference.html", "README.zh-CN.html"})
    void aPageFitsOnAPhone(String page) {
        browser.phone();
        open(page);

        assertThat((Long) browser.run("return document.documentElement.scrollWidth - innerWidth"))
                .as("pixels to the side")
                .isLessThanOrEqualTo(0);
        assertThat(browser.driver()
                        .findElement(By.cssSelector("nav.contents summary"))
                        .isDisplayed())
                .isTrue();
        browser.desktop();
    }

    @ParameterizedTest
    @ValueSource(strings = {"light", "dark"})
    void whatIsReadStandsOutFromItsGround(String scheme) {
        browser.scheme(scheme);
        open("docs/quick-start.html");
        await().atMost(LONG).until(() -> !all(".hljs-keyword").isEmpty());

        for (String part : List.of(
                "p",
                "h1",
                "h2",
                "td",
                "th",
                "a",
                "main code",
                ".hljs-keyword",
                ".hljs-comment",
                ".hljs-string",
                ".hljs-title",
                ".version",
                "nav.contents a",
                "nav.contents h2",
                "nav.contents [aria-current]")) {
            for (WebElement seen : all(part).stream().limit(3).toList()) {
                assertThat(contrast(seen)).as("%s, %s", part, scheme).isGreaterThanOrEqualTo(LEAST_CONTRAST);
            }
        }
    }

    @Test
    void theButtonTurnsToTheOtherSchemeAndTheNextPageKeepsIt() {
        browser.scheme("light");
        open("index.html");
        Object light = browser.run("return getComputedStyle(document.body).backgroundColor");

        browser.driver().findElement(By.id("theme")).click();

        Object dark = browser.run("return getComputedStyle(document.body).backgroundColor");
        open("docs/fencing.html");
        assertThat(dark).isNotEqualTo(light);
        assertThat(browser.run("return getComputedStyle(document.body).backgroundColor"))
                .isEqualTo(dark);
        browser.run("localStorage.clear()");
    }

    private static void open(String page) {
        browser.driver().get(site.resolve(page).toUri().toString());
        assertThat(browser.driver().manage().logs().get(LogType.BROWSER).getAll())
                .as("complaints")
                .isEmpty();
    }

    private static List<WebElement> all(String selector) {
        return browser.driver().findElements(By.cssSelector(selector));
    }

    /** By the formula of WCAG 2, from the colours that the browser drew with. */
    private static double contrast(WebElement of) {
        return ((Number) browser.run("""
                const parse = colour => colour.match(/[\\d.]+/g).map(Number);
                const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
                    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
                    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
                let ground = arguments[0];
                while (ground.parentElement && parse(getComputedStyle(ground).backgroundColor)[3] === 0) ground = ground.parentElement;
                const [a, b] = [light(parse(getComputedStyle(arguments[0]).color)), light(parse(getComputedStyle(ground).backgroundColor))];
                return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
                """, of)).doubleValue();
    }
}
