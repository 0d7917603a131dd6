package dev.holdfast.challenge.report;

import dev.holdfast.challenge.check.Check.Violation;
import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.history.LaneHistory.Bite;
import dev.holdfast.challenge.history.Turn;
import java.util.List;
import java.util.Locale;

/**
 * The picture of a violation: a lane for each turn, from the asking to the release; what was held together is red. The time of
 * the fault is marked behind the lanes.
 */
final class Timeline {
    private static final int WIDTH = 760;
    private static final int LEFT = 90;
    private static final int LANE = 34;
    private static final int BAR = 14;
    private static final int FOOT = 24;
    private static final double NANOS_PER_MILLI = 1e6;

    private final LaneHistory history;
    private final List<Turn> turns;
    private final long from;
    private final long until;

    private Timeline(LaneHistory history, List<Turn> turns) {
        this.history = history;
        this.turns = turns;
        this.from = turns.stream().mapToLong(Turn::asked).min().orElseThrow();
        this.until =
                Math.max(from + 1, turns.stream().mapToLong(Timeline::end).max().orElseThrow());
    }

    /** As SVG; empty for a violation that no turns show. */
    static String of(LaneHistory history, Violation violation) {
        return violation.turns().isEmpty() ? "" : new Timeline(history, violation.turns()).svg();
    }

    private static long end(Turn turn) {
        return Math.max(turn.toHeld().validUntil(), Math.max(turn.began(), turn.left()));
    }

    private String svg() {
        int height = turns.size() * LANE + FOOT;
        StringBuilder svg = new StringBuilder(String.format(
                Locale.ROOT,
                "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"who held, and when\">",
                WIDTH,
                height));
        history.bites().stream()
                .filter(bite -> bite.began() < until && bite.healed() > from)
                .forEach(bite -> svg.append(fault(bite, height - FOOT)));
        for (int i = 0; i < turns.size(); i++) {
            svg.append(lane(turns.get(i), i * LANE));
        }
        svg.append(overlap(height - FOOT));
        svg.append(text(LEFT, height - 6, "0 ms", "start"));
        svg.append(text(
                WIDTH - 4, height - 6, String.format(Locale.ROOT, "%.1f ms", (until - from) / NANOS_PER_MILLI), "end"));
        return svg.append("</svg>").toString();
    }

    private String fault(Bite bite, int height) {
        return box("fault", bite.began(), bite.healed(), 0, height)
                + text(
                        (int) Math.max(LEFT, x(bite.began())) + 3,
                        10,
                        history.cell().fault(),
                        "start");
    }

    private String lane(Turn turn, int y) {
        int top = y + LANE - BAR - 6;
        return text(4, top + BAR - 3, "worker " + turn.worker(), "start")
                + box("asked", turn.asked(), turn.began(), top + BAR / 2, 2)
                + box("naive", turn.began(), end(turn), top + BAR / 2 - 2, 4)
                + box("held", turn.began(), turn.toHeld().validUntil(), top, BAR)
                + text((int) x(turn.began()) + 3, top - 3, turn.token() == 0 ? "" : "token " + turn.token(), "start");
    }

    /** The time in which the last to begin was beside the others. */
    private String overlap(int height) {
        long began = turns.stream().mapToLong(Turn::began).max().orElseThrow();
        long ended = turns.stream()
                .mapToLong(turn -> turn.toHeld().validUntil())
                .min()
                .orElseThrow();
        return ended > began ? box("overlap", began, ended, 0, height) : "";
    }

    private double x(long time) {
        return LEFT + (WIDTH - LEFT - 4.0) * Math.min(1, Math.max(0, (double) (time - from) / (until - from)));
    }

    private String box(String kind, long began, long ended, int y, int height) {
        return String.format(
                Locale.ROOT,
                "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>",
                kind,
                x(began),
                y,
                Math.max(1.5, x(ended) - x(began)),
                height);
    }

    private static String text(int x, int y, String text, String anchor) {
        return text.isEmpty()
                ? ""
                : "<text x=\"" + x + "\" y=\"" + y + "\" text-anchor=\"" + anchor + "\">" + text + "</text>";
    }
}
