package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What Java Flight Recorder sees. */
@Timeout(60)
class FlightRecorderTest {
    @TempDir
    private Path folder;

    @Test
    void waitsHoldsAndLossesAreRecorded() throws Exception {
        try (Recording recording = new Recording();
                LockClient client = LockClient.connect("mem:")) {
            List.of("Wait", "Hold", "Loss")
                    .forEach(event -> recording.enable("dev.holdfast." + event).withoutThreshold());
            recording.start();
            Hold closed = client.lock("a").acquire();
            closed.close();
            Hold broken =
                    client.lock("b", HoldOptions.defaults().awaitRelease(true)).acquire();
            client.revoke("b", true);
            org.assertj.core.api.Assertions.assertThatThrownBy(broken::close).isInstanceOf(HoldLostException.class);
            recording.stop();
            List<RecordedEvent> events = dump(recording);
            assertThat(events)
                    .anyMatch(event -> is(event, "Wait", "a") && event.getBoolean("acquired"))
                    .anyMatch(event -> is(event, "Hold", "a") && event.getLong("token") == closed.token())
                    .anyMatch(event -> is(event, "Loss", "b")
                            && event.getString("cause").equals("REFUSED")
                            && event.getLong("token") == broken.token());
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
