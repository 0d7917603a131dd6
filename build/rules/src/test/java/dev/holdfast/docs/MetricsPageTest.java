package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.micrometer.LockMetrics;
import dev.holdfast.micrometer.NameTag;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The snippets of the page on metrics, run, and its table against the meters. */
class MetricsPageTest {
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `(holdfast\\.[a-z.]+)` \\|");

    private final MeterRegistry registry = new SimpleMeterRegistry();

    @Test
    void metrics() throws InterruptedException {
        String url = "mem:";
        // @formatter:off
        // snippet metrics, with "redis://127.0.0.1:6379" for url
        LockMetrics metrics = LockMetrics.on(registry, NameTag.before(':'));        // "order:42" is counted as "order"
        LockClient client = LockClient.builder(url)
                .listener(metrics)
                .build();
        metrics.bind(client);
        // end
        // @formatter:on
        try (client;
                Hold hold = client.lock("order:42").acquire()) {
            assertThat(hold.isValid()).isTrue();
            assertThat(registry.get("holdfast.held").gauge().value()).isEqualTo(1);
        }
    }

    @Test
    void everyMeterThatIsThereFromTheBeginningIsInTheTable() throws IOException {
        try (LockClient client = LockClient.connect("mem:");
                LockMetrics metrics = LockMetrics.on(registry)) {
            metrics.bind(client);
            assertThat(ROW.matcher(Files.readString(PagesTest.projectRoot().resolve("docs/observing.md")))
                            .results()
                            .map(row -> row.group(1)))
                    .doesNotHaveDuplicates()
                    .containsAll(registry.getMeters().stream()
                            .map(meter -> meter.getId().getName())
                            .distinct()
                            .toList());
        }
    }
}
