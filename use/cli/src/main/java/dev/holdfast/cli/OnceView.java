package dev.holdfast.cli;

import dev.holdfast.LockStatus;
import dev.holdfast.OnceRun;
import dev.holdfast.OnceRun.State;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The view of runs in {@code list --once}, for people and for programs. */
final class OnceView {
    private static final int TOKENS_PER_GRANT = 1024;

    private final Map<String, LockStatus.Held> held;
    private final Map<String, Long> begunBefore;

    /**
     * With what was read before the runs that are shown. A run that has begun and not ended, and whose lock is not held,
     * was cut short. So it must have begun before the locks were read, and not have ended after that.
     *
     * @param before the runs before the locks were read
     * @param locks those that were held then
     */
    OnceView(List<OnceRun> before, List<LockStatus> locks) {
        this.begunBefore = before.stream()
                .filter(run -> run.state() == State.BEGUN)
                .collect(Collectors.toMap(OnceRun::name, OnceRun::token));
        this.held = locks.stream()
                .filter(LockStatus::isHeld)
                .collect(Collectors.toMap(LockStatus::name, lock -> lock.grant().orElseThrow()));
    }

    String table(List<OnceRun> runs) {
        TextTable table = new TextTable("llllll", "NAME", "LAST RUN", "BY", "BEGAN", "TOOK", "DONE UNTIL");
        for (OnceRun run : runs) {
            boolean isDone = run.state() == State.DONE;
            table.row(
                    Printable.text(run.name()),
                    state(run) + (run.failure().isEmpty() ? "" : ": " + Printable.text(run.failure())),
                    Printable.text(run.who().toString()),
                    text(run.began()),
                    run.ended()
                            .map(ended -> HumanTime.of(Duration.between(run.began(), ended)))
                            .orElse(LockView.NOTHING),
                    run.until().filter(until -> isDone).map(OnceView::text).orElse(LockView.NOTHING));
        }
        return table.toString();
    }

    /** The documented shape. */
    Map<String, @Nullable Object> json(OnceRun run) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("name", run.name());
        fields.put("state", state(run));
        fields.put("token", run.token());
        fields.put("by", LockView.holder(run.who()));
        fields.put(
                "periodStart", run.period().map(period -> text(period.start())).orElse(null));
        fields.put("periodEnd", run.period().map(period -> text(period.end())).orElse(null));
        fields.put("began", text(run.began()));
        fields.put("ended", run.ended().map(OnceView::text).orElse(null));
        fields.put("failure", run.failure().isEmpty() ? null : run.failure());
        return fields;
    }

    private String state(OnceRun run) {
        if (run.state() != State.BEGUN) {
            return run.state().name().toLowerCase(Locale.ROOT);
        }
        Optional<LockStatus.Held> holder = Optional.ofNullable(held.get(run.name()));
        boolean holds = holder.map(now -> now.token() / TOKENS_PER_GRANT == run.token() / TOKENS_PER_GRANT)
                .orElse(false);
        boolean isNew = !Long.valueOf(run.token()).equals(begunBefore.get(run.name()));
        return holds || isNew ? "running" : "cut short";
    }

    private static String text(Instant moment) {
        return moment.truncatedTo(ChronoUnit.SECONDS).toString();
    }
}
