package dev.holdfast.flashsale;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testbed.Chromium;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.logging.Level;
import org.awaitility.core.ConditionTimeoutException;
import org.openqa.selenium.By;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.WindowType;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.logging.LogType;

/** The page in a real browser; each test has a tab of its own. */
final class Browser implements AutoCloseable {
    private static final Duration LONG = Duration.ofMinutes(1);
    /** One for all tests of a JVM, as its start takes seconds; each test has a tab of its own. */
    private static Chromium shared;

    private final Chromium chromium;
    private final ChromeDriver driver;

    private Browser(Chromium chromium) {
        this.chromium = chromium;
        this.driver = chromium.driver();
    }

    /** Opens one; where there is none, the test is skipped and says so, and fails in CI. */
    static Browser open() {
        if (shared == null) {
            shared = orSkip(Chromium::start);
            Runtime.getRuntime().addShutdownHook(new Thread(shared::close));
        }
        Browser browser = new Browser(shared);
        browser.desktop();
        return browser;
    }

    void desktop() {
        chromium.desktop();
    }

    void phone() {
        chromium.phone();
    }

    void scheme(String lightOrDark) {
        chromium.scheme(lightOrDark);
    }

    void get(URI address) {
        driver.get(address.toString());
        await().atMost(LONG).until(() -> find("main").isDisplayed());
    }

    ChromeDriver driver() {
        return driver;
    }

    WebElement find(String selector) {
        return driver.findElement(By.cssSelector(selector));
    }

    /** An element that may be used, as soon as it is shown. */
    WebElement shown(String selector) {
        return await().atMost(LONG)
                .ignoreExceptions() // the element may be made anew in between
                .until(() -> find(selector), WebElement::isDisplayed);
    }

    List<WebElement> all(String selector) {
        return driver.findElements(By.cssSelector(selector));
    }

    /** Waits until an element says something. */
    void awaitText(String selector, String part) {
        try {
            await().atMost(LONG)
                    .ignoreExceptions() // the element may be made anew in between
                    .until(() -> find(selector).getText(), text -> text.contains(part));
        } catch (ConditionTimeoutException never) {
            throw new AssertionError(
                    selector + " does not say '" + part + "'; the page says:\n"
                            + find("body").getText() + "\nits state: "
                            + run("return JSON.stringify(Alpine.$data(document.body).state)")
                            + "\nthe browser complains of: "
                            + complaints(),
                    never);
        }
    }

    Object run(String script) {
        return driver.executeScript(script);
    }

    /** What the browser complains of, such as a script that fails or a file that is not there. */
    List<String> complaints() {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
                .map(Object::toString)
                .toList();
    }

    byte[] screenshot() {
        return driver.getScreenshotAs(OutputType.BYTES);
    }

    /** Keeps a picture in target/screenshots; those in docs/images are copies. */
    void picture(String name) {
        keep(name + ".png", screenshot());
    }

    /** Keeps a picture of the stage, and what a recording makes a page of. Those in docs are copies. */
    void keep(String name, Recording recording) {
        run("document.querySelector('.stage').scrollIntoView()");
        picture(name);
        keep(name + ".html", StaticPage.of(recording.json()).getBytes(StandardCharsets.UTF_8));
    }

    static Path keep(String name, byte[] content) {
        try {
            return Files.write(
                    Files.createDirectories(Path.of("target", "screenshots")).resolve(name), content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends the page, and with it what was set for it: the size of a phone, a scheme of colours. */
    @Override
    public void close() {
        String page = driver.getWindowHandle();
        driver.switchTo().newWindow(WindowType.TAB);
        String next = driver.getWindowHandle();
        driver.switchTo().window(page).close();
        driver.switchTo().window(next);
    }
}
