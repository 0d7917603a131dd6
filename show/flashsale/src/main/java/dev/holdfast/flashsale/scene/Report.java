package dev.holdfast.flashsale.scene;

import dev.holdfast.LockClient;
import dev.holdfast.OnceOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Every server has the same timer, and one report is wanted: by nothing, by a lock alone, or by a record of the run. */
final class Report implements Scene {
    private static final long WRITING = 400; // milliseconds
    private static final OnceOptions KEPT_BRIEFLY = OnceOptions.keptFor(Duration.ofMinutes(1));

    private final LockClient client;

    Report(LockClient client) {
        this.client = client;
    }

    @Override
    public List<Span> play(Part part) throws InterruptedException {
        List<Span> spans = new ArrayList<>();
        String lane = Integer.toString(part.server());
        long began = Span.now();
        String name = "report:" + part.run();
        switch (part.way()) {
            case PLAIN -> write(lane, spans);
            case "lock" -> client.lock(name).run(hold -> write(lane, spans));
            default -> {
                boolean ran = client.once(name, KEPT_BRIEFLY)
                        .run(turn -> write(lane, spans))
                        .ran();
                if (!ran) {
                    spans.add(Span.since(began, lane, "skip", ""));
                }
            }
        }
        return spans;
    }

    private static void write(String lane, List<Span> spans) throws InterruptedException {
        long began = Span.now();
        Thread.sleep(WRITING);
        spans.add(Span.since(began, lane, "report", ""));
    }
}
