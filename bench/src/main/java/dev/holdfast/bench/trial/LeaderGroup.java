package dev.holdfast.bench.trial;

import dev.holdfast.bench.run.Schedule;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Three processes that stand for the same elections. Again and again the one that leads most of them is killed or stopped,
 * and the time counts until another leads.
 */
final class LeaderGroup implements Runnable {
    private static final int PROCESSES = 3;
    private static final int KILL_EVERY = 6;
    private static final int PROGRESS = 10;
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final Duration POLL = Duration.ofMillis(2);
    private static final Duration SETTLED = Duration.ofMillis(300);
    private static final long RECENT_NANOS = 200_000_000;

    private final Path folder;
    private final String election;
    private final List<String> urls;
    private final int faults;
    private final int resigns;
    private final long end;
    private final Map<LeaderPeer, LeaderFigures> figures;
    private final List<Member> members = new ArrayList<>();
    private final List<LeaderPage> pages = new ArrayList<>();

    LeaderGroup(
            Path folder,
            String election,
            List<String> urls,
            int faults,
            int resigns,
            long end,
            Map<LeaderPeer, LeaderFigures> figures) {
        this.folder = folder;
        this.election = election;
        this.urls = urls;
        this.faults = faults;
        this.resigns = resigns;
        this.end = end;
        this.figures = figures;
    }

    /** A process and what it says. */
    private static final class Member {
        final ChildProcess process;
        final LeaderPage page;
        private boolean ready;

        Member(ChildProcess process, LeaderPage page) {
            this.process = process;
            this.page = page;
        }

        void awaitReady() {
            if (!ready) {
                String unused = process.expect("ready", PATIENCE);
                ready = true;
            }
        }
    }

    @Override
    public void run() {
        try {
            for (int i = 0; i < PROCESSES; i++) {
                members.add(start());
            }
            for (int i = 0; i < faults && System.nanoTime() - end < 0; i++) {
                breakLeader(i % KILL_EVERY == 0);
                if ((i + 1) % PROGRESS == 0) {
                    System.err.println(election + ": " + (i + 1) + " of " + faults + " kills and stops");
                }
            }
            for (int i = 0; i < resigns; i++) {
                for (LeaderPeer peer : LeaderPeer.values()) {
                    resign(peer);
                }
            }
        } finally {
            members.forEach(member -> member.process.close());
        }
        figures.forEach((peer, figure) ->
                figure.judge(pages.stream().map(page -> page.runs(peer)).toList()));
    }

    private Member start() {
        Path file = folder.resolve(election + "-" + pages.size());
        try {
            LeaderPage page = new LeaderPage(file);
            ChildProcess process = ChildJvm.main(LeaderCandidate.class)
                    .flags("-Xmx128m", "-XX:+UseSerialGC", "-Dslf4j.internal.verbosity=ERROR")
                    .args(file.toString(), election, urls.get(0), urls.get(1), urls.get(2))
                    .start();
            pages.add(page);
            return new Member(process, page);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A process that starts is waited for before the next kill only: two are enough for a stop. */
    private void breakLeader(boolean kill) {
        if (kill) {
            members.forEach(Member::awaitReady);
        }
        awaitLeaders();
        Member victim = members.stream()
                .max(Comparator.comparingInt(member -> led(member).size()))
                .orElseThrow();
        Set<LeaderPeer> hit = led(victim);
        long now = System.nanoTime();
        if (kill) {
            victim.process.kill();
            members.remove(victim);
        } else {
            victim.process.stop();
        }
        for (LeaderPeer peer : hit) {
            LeaderFigures figure = Objects.requireNonNull(figures.get(peer));
            figure.add(kill ? figure.afterKills : figure.afterStops, awaitNext(peer, victim, now));
        }
        if (kill) {
            members.add(start());
        } else {
            victim.process.cont();
            Schedule.pause(SETTLED); // it may say that it leads, although it does not
        }
    }

    private void resign(LeaderPeer peer) {
        members.forEach(Member::awaitReady);
        awaitLeaders();
        Optional<Member> found = leader(peer);
        if (found.isEmpty()) {
            return;
        }
        Member leader = found.get();
        leader.process.send(peer.name());
        String line = leader.process.expect(LeaderCandidate.RESIGNED + peer, PATIENCE);
        long before = Long.parseLong(line.substring(line.lastIndexOf(' ') + 1));
        LeaderFigures figure = Objects.requireNonNull(figures.get(peer));
        figure.add(figure.afterResigns, awaitNext(peer, leader, before));
        Schedule.pause(SETTLED);
    }

    /** Until each election has a leader, and no answer of late is missing. */
    private void awaitLeaders() {
        Optional<Boolean> all = await(() -> leaderless().isEmpty() ? Optional.of(true) : Optional.empty());
        if (all.isEmpty()) {
            System.err.println(election + ": nobody has led for " + LIMIT.toSeconds() + " s: " + leaderless());
        }
    }

    private List<LeaderPeer> leaderless() {
        return Stream.of(LeaderPeer.values())
                .filter(peer -> leader(peer).isEmpty())
                .toList();
    }

    /** How long it took from a moment until another member said that it leads; the limit if none did. */
    private long awaitNext(LeaderPeer peer, Member last, long since) {
        return await(() -> members.stream()
                        .filter(member -> !member.equals(last))
                        .flatMap(member -> member.page.runs(peer).stream())
                        .filter(run -> run.lastAsked() > since)
                        .map(run -> Math.max(run.answered(), since) - since)
                        .min(Comparator.naturalOrder()))
                .orElse(LIMIT.toNanos());
    }

    private static <T> Optional<T> await(Supplier<Optional<T>> wanted) {
        long limit = System.nanoTime() + LIMIT.toNanos();
        Optional<T> got = wanted.get();
        while (got.isEmpty() && System.nanoTime() - limit < 0) {
            Schedule.pause(POLL);
            got = wanted.get();
        }
        return got;
    }

    private Optional<Member> leader(LeaderPeer peer) {
        return members.stream().filter(member -> led(member).contains(peer)).findFirst();
    }

    private static Set<LeaderPeer> led(Member member) {
        Set<LeaderPeer> led = EnumSet.noneOf(LeaderPeer.class);
        long recent = System.nanoTime() - RECENT_NANOS;
        for (LeaderPeer peer : LeaderPeer.values()) {
            if (member.page.lastLed(peer) > recent) {
                led.add(peer);
            }
        }
        return led;
    }
}
