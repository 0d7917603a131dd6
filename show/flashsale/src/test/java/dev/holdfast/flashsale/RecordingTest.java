package dev.holdfast.flashsale;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RecordingTest {
    @Test
    void figuresThatWereReadWhileTheSaleWasOpenedAreOfTheOneBefore() {
        Recording recording = new Recording();
        long before = System.nanoTime();
        recording.restart();

        recording.add(before, "\"the last\"");
        recording.add(System.nanoTime(), "\"the next\"");

        assertThat(recording.json()).contains("the next").doesNotContain("the last");
    }
}
