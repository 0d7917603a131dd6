package dev.holdfast.flashsale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.madgag.gif.fmsware.AnimatedGifEncoder;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Dimension;

/**
 * The moving picture of the docs, target/screenshots/flash-sale.gif, and the two recorded runs: the sale breaks without a
 * lock, and holds although a server is stopped past its lease.
 *
 * <pre>mvn -Dquick -pl show/flashsale -am test -Dtest=MovieTest -Dsurefire.failIfNoSpecifiedTests=false</pre>
 */
@Tag("thorough")
class MovieTest {
    private static final int FRAMES = 14; // of each run
    private static final int FRAME = 250; // milliseconds
    private static final int LAST = 3_500;
    private static final int MOST = 2_000_000; // bytes

    @TempDir
    Path folder;

    @Test
    void theSaleBreaksAndHolds() throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        AnimatedGifEncoder movie = new AnimatedGifEncoder();
        movie.start(out);
        movie.setRepeat(0);
        try (Browser browser = Browser.open()) {
            browser.driver().manage().window().setSize(new Dimension(760, 640));
            OnTwoServers.start();
            FlashSale.Figures broken =
                    film("flash-sale-broken", new Run("none", 20, 50, 64, 400, "", 7), browser, movie);
            assertThat(broken.tally().oversold()).isPositive();
            FlashSale.Figures held =
                    film("flash-sale-held", new Run("holdfast", 20, 20, 64, 400, "pause", 7), browser, movie);
            assertThat(held.struck().paused()).isEqualTo(1);
            assertThat(held.tally().sold()).isEqualTo(20);
            assertThat(held.tally().collisions()).isEmpty();
        }
        movie.finish();

        Browser.keep("flash-sale.gif", out.toByteArray());
        assertThat(out.size()).isLessThan(MOST);
    }

    private FlashSale.Figures film(String name, Run run, Browser browser, AnimatedGifEncoder movie) throws Exception {
        FlashSale sale = OnTwoServers.sale;
        sale.run(run);
        OnTwoServers.awaitQuiet();
        String last = "\"done\":" + run.buyers() + ",";
        await().atMost(OnTwoServers.LONG).until(() -> sale.recording().json().contains(last));
        byte[] page = StaticPage.of(sale.recording().json()).getBytes(StandardCharsets.UTF_8);
        Browser.keep("run-" + name + ".html", page);
        browser.get(Files.write(folder.resolve(name + ".html"), page).toUri());
        long frames = (Long) browser.run("return Alpine.$data(document.body).frames.length");
        for (int i = 0; i < FRAMES; i++) {
            long frame = i * (frames - 1) / (FRAMES - 1);
            browser.driver()
                    .executeAsyncScript(
                            "const page = Alpine.$data(document.body), done = arguments[1]; page.frame = arguments[0];"
                                    + " page.scrub(); Alpine.nextTick(done)",
                            frame);
            movie.setDelay(i == FRAMES - 1 ? LAST : FRAME);
            movie.addFrame(ImageIO.read(new ByteArrayInputStream(browser.screenshot())));
        }
        return sale.figures();
    }
}
