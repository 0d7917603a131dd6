package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What Java Flight Recorder sees. */
@Timeout(120)
@Tag("both-jdks")
class FlightRecorderTest {
    private static final List<String> EVENTS = List.of("Wait", "Hold", "Loss", "Renewal", "ReleaseFailed");

    @TempDir
    private Path folder;

    @Test
    void waitsHoldsAndLossesAreRecorded() throws Exception {
        try (Recording recording = new Recording();
                LockClient client = LockClient.connect("mem:")) {
            EVENTS.forEach(event -> recording.enable("dev.holdfast." + event).withoutThreshold());
            recording.start();
            Hold closed = client.lock("a").acquire();
            closed.close();
            Hold broken =
                    client.lock("b", HoldOptions.defaults().awaitRelease(true)).acquire();
            Breaking.shown(client, "b", true);
            assertThatThrownBy(broken::close).isInstanceOf(HoldLostException.class);
            recording.stop();
            List<RecordedEvent> events = dump(recording);
            assertThat(events)
                    .anyMatch(event -> is(event, "Wait", "a") && event.getBoolean("acquired"))
                    .anyMatch(event -> is(event, "Hold", "a") && event.getLong("token") == closed.token())
                    .anyMatch(event -> is(event, "Loss", "b")
                            && event.getString("cause").equals("GONE_FROM_STORE")
                            && event.getLong("token") == broken.token());
        }
    }

    @Test
    void whatWasHandedOverTimedOutRenewedAndNotReleasedIsRecorded() throws Exception {
        ManualTime time = new ManualTime();
        UnreliableStore line = new UnreliableStore(new MemoryStore(time).open(time));
        try (Recording recording = new Recording();
                LockClient client = LockClient.builder(line).time(time).build()) {
            EVENTS.forEach(event -> recording.enable("dev.holdfast." + event).withoutThreshold());
            recording.start();
            Hold first = client.lock("a").acquire();
            CompletableFuture<Hold> second = client.lock("a").acquireAsync();
            assertThat(client.lock("a").acquireAsync().cancel(true)).isTrue();
            first.close();
            Hold handedOver = second.join();
            time.advance(Duration.ofSeconds(11));
            line.renewals = UnreliableStore.Line.REQUEST_LOST;
            time.advance(Duration.ofSeconds(11));
            line.releases = UnreliableStore.Line.REQUEST_LOST;
            handedOver.close();
            recording.stop();
            List<RecordedEvent> events = dump(recording);
            assertThat(events)
                    .allMatch(event -> line.description().equals(event.getString("store")))
                    .anyMatch(event -> is(event, "Wait", "a") && event.getBoolean("handedOver"))
                    .anyMatch(event -> is(event, "Wait", "a") && "CANCELLED".equals(event.getString("reason")))
                    .anyMatch(event -> is(event, "Hold", "a") && event.getBoolean("handedOver"))
                    .anyMatch(event -> is(event, "Renewal", "a") && event.getInt("unanswered") == 0)
                    .anyMatch(event -> is(event, "Renewal", "a") && event.getInt("unanswered") == 1)
                    .anyMatch(event -> is(event, "ReleaseFailed", "a")
                            && event.getLong("token") == handedOver.token()
                            && event.getString("reason").equals("the line is down"));
            line.releases = UnreliableStore.Line.UP;
            time.advance(Duration.ofSeconds(1)); // the release is sent again
        }
    }

    /** Their loading costs some 70 ms: only who records pays that. */
    @Test
    void withoutARecordingNoClassOfTheFlightRecordersEventsIsLoaded() throws Exception {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xlog:class+load",
                        "-cp",
                        System.getProperty("surefire.real.class.path", System.getProperty("java.class.path")),
                        Unrecorded.class.getName())
                .redirectErrorStream(true)
                .start();
        String loaded = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(child.waitFor()).as(loaded).isZero();
        assertThat(loaded)
                .contains("dev.holdfast.internal.Telemetry ")
                .doesNotContain("dev.holdfast.internal.FlightEvents$", "jdk.jfr.internal.");
    }

    /** Takes a lock, hands it over, loses it, with nothing recorded. */
    static final class Unrecorded {
        public static void main(String[] args) throws InterruptedException {
            try (LockClient client = LockClient.connect("mem:")) {
                Hold first = client.lock("a").acquire();
                CompletableFuture<Hold> second = client.lock("a").acquireAsync();
                first.close();
                second.join().close();
                client.lock("b").acquire();
            }
        }
    }

    private List<RecordedEvent> dump(Recording recording) throws IOException {
        Path file = folder.resolve("locks.jfr");
        recording.dump(file);
        return RecordingFile.readAllEvents(file);
    }

    private static boolean is(RecordedEvent event, String type, String lock) {
        return event.getEventType().getName().equals("dev.holdfast." + type) && lock.equals(event.getString("lock"));
    }
}
