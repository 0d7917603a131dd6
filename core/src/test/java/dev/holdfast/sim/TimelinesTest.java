package dev.holdfast.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The engine does in every schedule what it did before: each request, each answer, each time. It holds its guarantees in
 * all of them, and they have met everything there is to meet. A change that only moves code leaves the committed check sums
 * as they are. One that is meant to change what the engine does writes them anew with {@code -Dholdfast.sim.timelines=write}, and says why.
 *
 * <p>To see what changed: play the first seed that differs ({@code -Dholdfast.sim.seed=…
 * -Dholdfast.sim.schedules=1}) before and after, and compare the two timelines.
 */
@Tag("thorough")
@Tag("same-on-each-jdk")
class TimelinesTest {
    private static final Path COMMITTED = Path.of("src/test/timelines.txt");
    private static final int SCHEDULES = 10_000;
    private static final int IN_A_LINE = 20;

    @Test
    @Timeout(60 * 60)
    void eachScheduleGoesAsItWentBeforeAndBreaksNoRule() throws IOException {
        List<String> now = new ArrayList<>();
        Simulation simulation = new Simulation();
        Schedule.Outcome breach = simulation.firstBreach(1, SCHEDULES, timeline -> now.add(sum(timeline)));
        System.out.print(simulation.report());
        assertThat(breach).withFailMessage(() -> Simulation.explain(breach)).isNull();
        assertThat(simulation.counts().never())
                .as("what never happened in " + SCHEDULES + " schedules")
                .isEmpty();
        if ("write".equals(System.getProperty("holdfast.sim.timelines"))) {
            Files.write(COMMITTED, inLines(now));
        }
        List<String> before = Files.readAllLines(COMMITTED).stream()
                .flatMap(line -> Stream.of(line.split(" ")))
                .toList();
        List<Integer> different = IntStream.range(0, SCHEDULES)
                .filter(i -> !now.get(i).equals(before.get(i)))
                .mapToObj(i -> i + 1)
                .toList();
        assertThat(different).as("the seeds whose schedules go otherwise").isEmpty();
    }

    private static List<String> inLines(List<String> sums) {
        return IntStream.range(0, SCHEDULES / IN_A_LINE)
                .mapToObj(line -> String.join(" ", sums.subList(line * IN_A_LINE, (line + 1) * IN_A_LINE)))
                .toList();
    }

    private static String sum(String timeline) {
        CRC32 sum = new CRC32();
        sum.update(timeline.getBytes(StandardCharsets.UTF_8));
        return String.format("%04x", (sum.getValue() ^ sum.getValue() >>> 16) & 0xffff);
    }
}
