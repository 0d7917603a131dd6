package dev.holdfast.testbed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;

/**
 * A real browser without a window: Debian's chromium with chromium-driver. Nothing is downloaded for it. Whoever uses it has
 * Selenium on the class path. For one thread.
 */
public final class Chromium implements AutoCloseable {
    private static final int WIDTH = 1100;
    private static final int HEIGHT = 1000;
    private static final int PHONE = 390;

    private final ChromeDriver driver;

    private Chromium(ChromeDriver driver) {
        this.driver = driver;
        desktop();
    }

    /**
     * Starts one, with a profile of its own in {@code target}.
     *
     * @throws ServerMissingException when the browser or its driver is not installed
     */
    public static Chromium start() {
        ChromeOptions options = new ChromeOptions();
        options.setBinary(installed("chromium").toFile());
        options.addArguments(
                "--headless=new",
                "--user-data-dir=" + ownFolder(),
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--disable-dev-shm-usage",
                "--hide-scrollbars");
        ChromeDriverService service = new ChromeDriverService.Builder()
                .usingDriverExecutable(installed("chromedriver").toFile())
                .build();
        return new Chromium(new ChromeDriver(service, options));
    }

    private static Path ownFolder() {
        try {
            return Files.createTempDirectory(
                    Files.createDirectories(Path.of("target").toAbsolutePath()), "browser-");
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make a folder for the browser", e);
        }
    }

    private static Path installed(String program) {
        return Binaries.onThisMachine().find(program, "apt-get install chromium chromium-driver");
    }

    /** What drives it. */
    public ChromeDriver driver() {
        return driver;
    }

    /** The width of a window on a desk. */
    public void desktop() {
        driver.executeCdpCommand("Emulation.clearDeviceMetricsOverride", Map.of());
        driver.manage().window().setSize(new Dimension(WIDTH, HEIGHT));
    }

    /** The width of a phone; headless browsers are never narrower than their window, so the screen is set. */
    public void phone() {
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", PHONE, "height", HEIGHT, "deviceScaleFactor", 2, "mobile", true));
    }

    /** What the reader's system prefers: {@code light} or {@code dark}. */
    public void scheme(String lightOrDark) {
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", lightOrDark))));
    }

    /** Runs a script in the page and returns what it returns. */
    public @Nullable Object run(String script, Object... arguments) {
        return driver.executeScript(script, arguments);
    }

    /** Ends it. */
    @Override
    public void close() {
        driver.quit();
    }
}
