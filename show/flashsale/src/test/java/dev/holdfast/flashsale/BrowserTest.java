package dev.holdfast.flashsale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

/** The page in a real browser. */
class BrowserTest {
    private static FlashSale sale;

    private Browser browser;

    @BeforeAll
    static void start() throws Exception {
        Browser.open().close(); // without one, no servers are started either
        OnTwoServers.start();
        sale = OnTwoServers.sale;
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

    @Test
    void oneButtonShowsWhatNothingGuardsAndSaysWhatBroke() {
        browser.get(OnTwoServers.at("/?guard=none&gap=50&lang=en"));

        browser.shown("button.main").click();

        browser.awaitText(".verdict.bad", "people have a ticket that does not exist");
        OnTwoServers.awaitQuiet();
        long oversold = sale.figures().tally().oversold();
        await().atMost(OnTwoServers.LONG)
                .until(() -> browser.all(".tickets i.over").size() == oversold);
        assertThat(browser.find(".what").getText()).contains("read that same number");
        await().atMost(OnTwoServers.LONG).until(() -> browser.find(".replay").isDisplayed());
        browser.keep("flash-sale-broken", sale.recording());
    }

    @Test
    @Tag("thorough")
    void aServerThatIsStoppedIsRefusedAndThePageQuotesTheFence() {
        browser.get(OnTwoServers.at("/?guard=holdfast&fault=pause&lang=en"));

        browser.shown("button.main").click();

        browser.awaitText(".verdict.good", "20 of 20 sold, none twice. A late write was refused: token ");
        assertThat(browser.all(".tickets i.over")).isEmpty();
        browser.scheme("dark");
        browser.keep("flash-sale-held", sale.recording());
    }

    @Test
    @Tag("thorough")
    void theKeyboardIsEnoughAndEveryFieldHasAName() {
        browser.get(OnTwoServers.at("/?guard=holdfast&gap=0&lang=en"));
        for (WebElement field : browser.all("input, select, button, summary, [role=region]")) {
            if (field.isDisplayed()) {
                assertThat(field.getAccessibleName())
                        .as(field.getDomAttribute("type"))
                        .isNotBlank();
            }
        }

        for (int i = 0; i < 20 && !focused().equals("Sell"); i++) {
            browser.driver().switchTo().activeElement().sendKeys(Keys.TAB);
        }
        browser.driver().switchTo().activeElement().sendKeys(Keys.ENTER);

        browser.awaitText(".verdict.good", "20 of 20 sold, none twice.");
    }

    private String focused() {
        return browser.driver().switchTo().activeElement().getText();
    }

    @Test
    @Tag("thorough")
    void aPhoneShowsItInChineseWithoutScrollingSideways() {
        browser.phone();
        browser.get(OnTwoServers.at("/?guard=none&gap=50&lang=zh"));

        browser.shown("button.main").click();

        browser.awaitText(".verdict.bad", "个人手里的票并不存在");
        assertThat(browser.find("h1").getText()).isEqualTo("秒杀现场");
        assertThat(browser.run("return document.documentElement.scrollWidth <= window.innerWidth"))
                .isEqualTo(true);
        browser.keep("flash-sale-phone", sale.recording());
    }

    @Test
    @Tag("thorough")
    void moreTicketsThanFitAreNotDrawn() {
        sale.open("none", 401, 0);
        browser.get(OnTwoServers.at("/?lang=en"));
        browser.awaitText("dl dd", "401");

        assertThat(browser.all(".tickets i")).isEmpty();
        assertThat(browser.find(".tickets").isDisplayed()).isFalse();
    }

    @Test
    @Tag("thorough")
    void aLinkChoosesOnlyWhatTheFormOffers() {
        browser.get(OnTwoServers.at("/?fault=../../lock/expire&lang=constructor"));

        browser.awaitText("h1", browser.run("return texts.en.title").toString());
        assertThat(browser.run("return Alpine.$data(document.body).fault")).isEqualTo("");
    }

    @Test
    @Tag("thorough")
    void aLinkWithASeedFillsTheFormAndOneButtonPlaysItsRun() {
        sale.open("holdfast", OnTwoServers.STOCK, 0);
        browser.get(OnTwoServers.at("/?guard=none&gap=50&stock=10&buyers=30&within=100&seed=7&lang=en"));
        browser.awaitText("button.main", "Play this run");
        browser.awaitText("dl dd", "20"); // the page has the figures, and has begun nothing
        assertThat(sale.figures().run()).isNull();

        browser.shown("button.main").click();

        browser.awaitText(".verdict.bad", "people have a ticket that does not exist");
        OnTwoServers.awaitQuiet();
        assertThat(sale.figures().run()).isEqualTo(new Run("none", 10, 50, 30, 100, "", 7));
        assertThat(browser.find("form a").getDomProperty("href")).endsWith("buyers=30&within=100&seed=7&lang=en");
    }

    @Test
    @Tag("thorough")
    void theStoreIsCutOffByAButtonAndThePageSaysWhatHappened() {
        sale.open("holdfast", OnTwoServers.STOCK, 20);
        browser.get(OnTwoServers.at("/?guard=holdfast&buyers=200&lang=en"));
        browser.awaitText(".buttons button:last-child", "Cut the store off for 5 s");

        browser.shown(".buttons button:last-child").click();
        browser.awaitText("p.what[role=status]", "The store of the locks is cut off.");
        sale.send(OnTwoServers.CROWD, 1);

        assertThat(soldWhileTheStoreIsAway()).isNotEmpty().containsOnly(0L);
        browser.awaitText("p.what[role=status]", "The store was cut off for 5 s.");
        browser.awaitText(".verdict.good", "20 of 20 sold, none twice.");
        assertThat(sale.figures().buyers().answers().keySet())
                .doesNotContain("gave up")
                .containsAnyOf("429", "503"); // while it was away, orders were told to come again
        browser.keep("flash-sale-cut", sale.recording());
    }

    private static List<Long> soldWhileTheStoreIsAway() {
        List<Long> sold = new ArrayList<>();
        await().atMost(OnTwoServers.LONG).until(() -> {
            FlashSale.Figures now = sale.figures();
            if (now.outage().on()) {
                sold.add(now.tally().sold());
            }
            return !now.outage().on();
        });
        return sold;
    }

    @Test
    @Tag("thorough")
    void theGuideBreaksTheSaleTwiceAndHoldsThenMarkingTheLinesOfTheCode() {
        browser.get(OnTwoServers.at("/?lang=en"));
        assertThat(browser.find("form").isDisplayed()).isFalse();
        browser.awaitText(".guide p", "Two tickets, four buyers, servers: 2.");
        browser.awaitText(".guide button", "Who wins?");

        browser.shown(".guide button").sendKeys(Keys.ENTER);
        browser.awaitText(".lit", "shop.write(order, read);");
        browser.awaitText(".guide p", "one ticket was sold more than once");
        browser.awaitText(".verdict.bad", "4 sold of 2");
        assertThat(browser.all(".lane")).hasSize(2);
        assertThat(browser.all(".track .sold")).hasSize(1);
        assertThat(browser.all(".track .twice")).hasSize(3);
        assertThat(browser.all(".story li")).hasSize(4);
        assertThat(browser.find(".story .what").getText()).startsWith("The marked line failed ");
        browser.driver().manage().window().setSize(new Dimension(1100, 1250)); // with the code
        browser.picture("flash-sale-guide");

        browser.shown(".guide button").sendKeys(Keys.ENTER); // it still has the focus
        browser.awaitText(".lit", "synchronized (this) {");
        browser.awaitText(".guide p", "The other server has a monitor of its own.");

        browser.shown(".guide button").sendKeys(Keys.ENTER);
        browser.awaitText(".lit", "shop.checkFence(sale.id(), token);");
        browser.awaitText(".guide p", "its token was too low");
        browser.awaitText(".verdict.good", "2 of 2 sold, none twice. A late write was refused: token ");
        assertThat(browser.all(".track .late")).hasSize(1);
        await().atMost(OnTwoServers.LONG).until(() -> browser.find("form").isDisplayed());
        assertThat(browser.all(".results tbody tr")).hasSizeGreaterThanOrEqualTo(3);
        browser.scheme("dark");
        browser.picture("flash-sale-guide-held");
    }

    @Test
    @Tag("thorough")
    void theGuideFitsAPhoneInChineseAndQuotesTheFenceInChinese() {
        sale.open("holdfast", OnTwoServers.STOCK, 5);
        sale.servers().pause(1);
        OnTwoServers.sell(OnTwoServers.CROWD);
        browser.phone();
        browser.get(OnTwoServers.at("/?lang=zh"));

        browser.awaitText(".verdict.good", "一次迟到的写入被拒绝：令牌 ");
        browser.awaitText(".guide button", "谁会赢？");
        browser.awaitText(".lit", "shop.checkFence(sale.id(), token);");
        assertThat(browser.find(".story .what").getText()).contains("这一行拒绝了服务器 1 迟到的写入");
        assertThat(browser.run("return document.documentElement.scrollWidth <= window.innerWidth"))
                .isEqualTo(true);
        browser.picture("flash-sale-guide-phone");
    }

    @Test
    @Tag("thorough")
    void theCoupleIsPaidOnceOrTwice() {
        browser.get(OnTwoServers.at("/?guard=none&gap=500&lang=en"));
        browser.shown("section[aria-label='The couple'] button").click();
        browser.awaitText("section[aria-label='The couple'] .bad", "250 paid out of 200");

        browser.get(OnTwoServers.at("/?guard=holdfast&gap=50&lang=en"));
        browser.shown("section[aria-label='The couple'] button").click();
        browser.awaitText("section[aria-label='The couple'] .good", " paid out of 200");
    }

    @Test
    @Tag("thorough")
    void anExportedRunPlaysAgainWithoutTheSale(@TempDir Path folder) throws Exception {
        sale.open("none", OnTwoServers.STOCK, 50);
        awaitRecorded("\"buyers\":null");
        OnTwoServers.sell(OnTwoServers.CROWD);
        awaitRecorded("\"done\":" + OnTwoServers.CROWD + ",");
        Path page = folder.resolve("run.html");
        Files.writeString(page, StaticPage.of(sale.recording().json()));

        browser.get(page.toUri());

        browser.awaitText(".verdict.bad", "people have a ticket that does not exist");
        assertThat(browser.all("form, nav, a")).isEmpty();
        assertThat(browser.find(".lit").getText()).contains("shop.write(order, read);");
        assertThat(browser.all(".lane")).hasSize(2);
        assertThat(browser.find(".note").getText()).startsWith("A recorded run. Guarded by: nothing.");
        assertThat(browser.run(
                        "const range = document.querySelector('.replay input'); return range.value === range.max"))
                .isEqualTo(true);
        browser.shown(".replay input").sendKeys(Keys.HOME);
        browser.awaitText(".verdict", "Who wins?");
        browser.shown(".replay button").click();
        browser.awaitText(".verdict.bad", "people have a ticket that does not exist");
    }

    private static void awaitRecorded(String figures) {
        await().atMost(OnTwoServers.LONG).until(() -> sale.recording().json().contains(figures));
    }
}
