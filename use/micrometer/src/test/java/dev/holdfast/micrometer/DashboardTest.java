package dev.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.LockEvent;
import dev.holdfast.testkit.TestLocks;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The dashboard asks for series that Prometheus gets from these meters, and for no others. */
@Timeout(60)
class DashboardTest {
    private static final Pattern SERIES = Pattern.compile("\\bholdfast_\\w+");
    private static final Pattern LABELS = Pattern.compile("\\bby \\(([^)]*)\\)|(\\w+)=~");

    private final String dashboard = read(Path.of("grafana-dashboard.json"));

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void everySeriesAndLabelOfTheDashboardExists() throws InterruptedException {
        String scraped = afterEverythingHasHappened();
        Set<String> asked = new TreeSet<>(
                SERIES.matcher(dashboard).results().map(found -> found.group()).toList());
        assertThat(asked).hasSizeGreaterThan(10);
        for (String series : asked) {
            assertThat(scraped).containsPattern("(?m)^" + series + "[{ ]");
        }
        Matcher labels = LABELS.matcher(dashboard);
        while (labels.find()) {
            String names = labels.group(1) == null ? labels.group(2) : labels.group(1);
            for (String label : List.of(names.split(", *"))) {
                assertThat(scraped).contains(label + "=\"");
            }
        }
    }

    private static String afterEverythingHasHappened() throws InterruptedException {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        LockMetrics metrics = LockMetrics.on(registry);
        try (TestLocks locks = TestLocks.standing()) {
            LockClient client = locks.anotherClient(builder -> builder.listener(metrics));
            metrics.bind(client);
            Hold hold = client.lock("a").acquire();
            locks.advance(Duration.ofSeconds(20));
            locks.storeAway();
            hold.close();
            locks.storeBack();
            Hold lost = client.lock("b").acquire();
            locks.lose(lost);
            metrics.onSuspect(new LockEvent.Suspect("a", 1, "mem:"));
            locks.events();
            return registry.scrape();
        }
    }
}
