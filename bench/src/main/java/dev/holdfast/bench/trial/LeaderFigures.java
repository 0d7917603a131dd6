package dev.holdfast.bench.trial;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What became of one library's election; filled by the groups, one after another. */
final class LeaderFigures {
    final List<Long> afterKills = new ArrayList<>();
    final List<Long> afterStops = new ArrayList<>();
    final List<Long> afterResigns = new ArrayList<>();
    private int doubles;
    private long longestDouble;

    synchronized void add(List<Long> times, long nanos) {
        times.add(nanos);
    }

    /** Counts the pairs of processes that led at the same time. */
    synchronized void judge(List<List<LeaderPage.Run>> processes) {
        for (int one = 0; one < processes.size(); one++) {
            for (int other = one + 1; other < processes.size(); other++) {
                for (LeaderPage.Run run : processes.get(one)) {
                    for (LeaderPage.Run beside : processes.get(other)) {
                        if (run.overlaps(beside)) {
                            doubles++;
                            longestDouble = Math.max(longestDouble, run.overlapNanos(beside));
                        }
                    }
                }
            }
        }
    }

    static void head() {
        Trial.head(
                "election",
                "kills, stops of its leader",
                "two leaders, times",
                "longest ms",
                "next leader after a kill ms, median",
                "longest",
                "bound",
                "after a stop, longest",
                "resigns",
                "next leader ms, median",
                "95 %",
                "longest");
    }

    void row(LeaderPeer peer) {
        Trial.row(
                peer.title,
                afterKills.size() + ", " + afterStops.size(),
                doubles,
                doubles == 0 ? "–" : Trial.millis(List.of(longestDouble), 1),
                Trial.millis(afterKills, 0.5),
                Trial.millis(afterKills, 1),
                peer.isHoldfast() ? peer.bound().toMillis() : "–",
                Trial.millis(afterStops, 1),
                afterResigns.size(),
                Trial.millis(afterResigns, 0.5),
                Trial.millis(afterResigns, 0.95),
                Trial.millis(afterResigns, 1));
    }

    /** Whether there was never more than one leader, and another came in time after every kill. */
    boolean kept(Duration bound) {
        return doubles == 0 && afterKills.stream().allMatch(nanos -> nanos <= bound.toNanos());
    }
}
