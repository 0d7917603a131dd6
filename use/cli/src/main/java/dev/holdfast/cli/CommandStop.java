package dev.holdfast.cli;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Ends a command and all its descendants.
 *
 * <pre>
 *   SIGTERM to those present ──grace──► SIGSTOP to all ──nobody new──► SIGKILL to all ──► survivors
 *                                      ▲      │ somebody new
 *                                      └──────┘
 * </pre>
 *
 * <p>A process that is started within the grace is part of somebody's clean-up and gets no SIGTERM. Before SIGKILL all
 * are stopped: a stopped process starts no other, so that in the end a search finds nobody new. Each wait is bounded: a process of another user accepts no signal of ours.
 */
final class CommandStop {
    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(10);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(100);
    /** A search can miss a process that starts its successor and ends meanwhile; so many in a row do not. */
    private static final int CALM_SEARCHES = 16;

    private static final Duration BETWEEN_SEARCHES = Duration.ofMillis(2);
    /** A process found later starts others faster than it can be stopped: it is killed at once. */
    private static final int STOPPING_SEARCHES = 3;

    /** For so long a family is searched that always has somebody new. */
    private static final Duration FREEZING = Duration.ofSeconds(10);
    /** After SIGKILL only a process that is stuck in the kernel, or another user's, is still there. */
    private static final Duration KILLING = Duration.ofSeconds(2);

    private final ProcessFamily family;
    private final SignalSender sender;

    CommandStop(ProcessFamily family, SignalSender sender) {
        this.family = family;
        this.sender = sender;
    }

    /**
     * Runs it to its end.
     *
     * @param grace how long members may take to end after SIGTERM
     * @return the members that could not be ended
     */
    List<ProcessHandle> run(Duration grace) throws InterruptedException {
        discoverAll();
        family.members().forEach(ProcessHandle::destroy);
        awaitEnd(grace);
        List<ProcessHandle> restless = freeze();
        long begin = System.nanoTime();
        do {
            family.members().forEach(ProcessHandle::destroyForcibly);
            awaitEnd(LONGEST_PAUSE);
        } while (!family.alive().isEmpty() && System.nanoTime() - begin < KILLING.toNanos());
        return restless.isEmpty() ? family.alive() : restless;
    }

    private void discoverAll() {
        for (int search = 0; search < CALM_SEARCHES && !family.discover().isEmpty(); search++) {
            // Each finds more of them.
        }
    }

    private void awaitEnd(Duration atMost) throws InterruptedException {
        long begin = System.nanoTime();
        long pause = SHORTEST_PAUSE.toMillis();
        while (System.nanoTime() - begin < atMost.toNanos() && !haveEnded()) {
            long left = atMost.toMillis() - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
            TimeUnit.MILLISECONDS.sleep(Math.max(1, Math.min(left, pause)));
            pause = Math.min(2 * pause, LONGEST_PAUSE.toMillis());
        }
    }

    /** Whether all members have, those too who are seen for the first time. */
    private boolean haveEnded() {
        discoverAll();
        return family.alive().isEmpty();
    }

    /**
     * Stops all members, until several searches in a row have found nobody new.
     *
     * @return whom the last search found, in a family that never came to rest
     */
    private List<ProcessHandle> freeze() throws InterruptedException {
        long begin = System.nanoTime();
        List<ProcessHandle> running = family.alive();
        int calm = 0;
        for (int search = 0; calm < CALM_SEARCHES && System.nanoTime() - begin < FREEZING.toNanos(); search++) {
            for (ProcessHandle member : running) {
                if (search >= STOPPING_SEARCHES || !sender.send(SignalSender.STOP, member.pid())) {
                    member.destroyForcibly();
                }
            }
            calm = running.isEmpty() ? calm + 1 : 0;
            if (calm > 0) {
                TimeUnit.NANOSECONDS.sleep(BETWEEN_SEARCHES.toNanos());
            }
            running = family.discover();
        }
        return calm < CALM_SEARCHES ? running : List.of();
    }
}
