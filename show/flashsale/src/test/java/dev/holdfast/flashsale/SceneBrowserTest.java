package dev.holdfast.flashsale;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

/** The pages of the scenes in a real browser. */
@Tag("thorough")
class SceneBrowserTest {
    private Browser browser;

    @BeforeAll
    static void start() throws Exception {
        Browser.open().close(); // without one, no servers are started either
        OnTwoServers.start();
    }

    @BeforeEach
    void open() {
        browser = Browser.open();
    }

    @AfterEach
    void complainOfNothing() {
        try (Browser closing = browser) {
            assertThat(closing.complaints()).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    hot-key | plain         | bad  | loads.
                    hot-key | single-flight | good | 12 readers, one load.
                    price   | plain         | bad  | The cache says 100, the database says 200. It stays wrong
                    price   | read-write    | good | The cache says 200, the database says 200.
                    report  | plain         | bad  | 4 reports were written.
                    report  | lock          | bad  | 4 reports were written.
                    report  | once          | good | One report was written.
                    house   | plain         | bad  | visits beside a painter.
                    house   | house         | good | No visitor met a painter.
                    house   | rooms         | good | No visitor met a painter.
                    """)
    void oneButtonShowsWhatHappened(String scene, String way, String kind, String verdict) {
        browser.get(OnTwoServers.at("/scene.html?scene=" + scene + "&way=" + way + "&lang=en"));

        browser.shown("button.main").click();

        browser.awaitText(".verdict." + kind, verdict);
        assertThat(browser.all(".track span")).isNotEmpty().allMatch(WebElement::isDisplayed);
        assertThat(browser.all("details li")).hasSameSizeAs(browser.all(".track span"));
        browser.picture("scene-" + scene + "-" + way);
    }

    @Test
    void aPhoneShowsASceneInChineseInTheDarkWithoutScrollingSideways() {
        browser.phone();
        browser.scheme("dark");
        browser.get(OnTwoServers.at("/scene.html?scene=house&way=rooms&lang=zh"));

        browser.shown("button.main").click();

        browser.awaitText(".verdict.good", "没有访客遇到油漆工");
        assertThat(browser.run("return document.documentElement.scrollWidth <= window.innerWidth"))
                .isEqualTo(true);
        browser.picture("scene-phone");
    }

    @Test
    void theKeyboardIsEnoughAndEveryFieldHasAName() {
        browser.get(OnTwoServers.at("/scene.html?scene=report&way=once&lang=en"));
        for (WebElement field : browser.all("select, button, summary, a")) {
            if (field.isDisplayed()) {
                assertThat(field.getAccessibleName()).isNotBlank();
            }
        }

        WebElement way = browser.find("select");
        way.sendKeys(Keys.TAB);
        browser.driver().switchTo().activeElement().sendKeys(Keys.ENTER);

        browser.awaitText(".verdict.good", "One report was written.");
    }

    @Test
    void aLinkChoosesOnlyWhatThePageOffers() {
        browser.get(OnTwoServers.at("/scene.html?scene=../../run&way=__proto__&lang=en"));

        browser.awaitText("h1", "A hot key");
        assertThat(browser.run("return Alpine.$data(document.body).way")).isEqualTo("plain");
    }
}
