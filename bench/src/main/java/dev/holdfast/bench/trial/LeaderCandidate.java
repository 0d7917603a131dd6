package dev.holdfast.bench.trial;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Schedule;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Scanner;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A process that stands for one election of each library, and notes all the time which it leads. */
final class LeaderCandidate {
    static final String RESIGNED = "resigned ";
    private static final int ATTEMPTS = 5;
    private static final Duration POLL = Duration.ofMillis(2);

    private final Map<LeaderPeer, LeaderPeer.Candidate> candidates = new EnumMap<>(LeaderPeer.class);
    private final Map<LeaderPeer, Long> lastLed = new EnumMap<>(LeaderPeer.class);
    private final LeaderPage page;

    private LeaderCandidate(Path file) throws IOException {
        page = new LeaderPage(file);
    }

    /** Arguments: the page, the election, and the URLs of Redis, PostgreSQL and ZooKeeper. */
    public static void main(String[] args) throws Exception {
        LeaderCandidate process = new LeaderCandidate(Path.of(args[0]));
        ExecutorService threads = Executors.newCachedThreadPool();
        Map<LeaderPeer, Future<LeaderPeer.Candidate>> standing = new EnumMap<>(LeaderPeer.class);
        for (LeaderPeer peer : LeaderPeer.values()) {
            String url = args[peer.store == StoreKind.REDIS ? 2 : peer.store == StoreKind.POSTGRESQL ? 3 : 4];
            standing.put(peer, threads.submit(() -> stand(peer, url, args[1])));
        }
        for (LeaderPeer peer : LeaderPeer.values()) {
            process.candidates.put(
                    peer, Objects.requireNonNull(standing.get(peer)).get());
        }
        threads.shutdown();
        Thread watch = new Thread(process::watch, "watch");
        watch.setDaemon(true);
        watch.setPriority(Thread.MAX_PRIORITY);
        watch.start();
        System.out.println("ready");
        Scanner in = new Scanner(System.in, "UTF-8");
        while (in.hasNextLine()) {
            LeaderPeer peer = LeaderPeer.valueOf(in.nextLine());
            long before = System.nanoTime();
            Objects.requireNonNull(process.candidates.get(peer)).resign();
            System.out.println(RESIGNED + peer + " " + before);
        }
    }

    /** As a service that is started again when it could not start: on a busy machine a session may end before it is used. */
    private static LeaderPeer.Candidate stand(LeaderPeer peer, String url, String election) {
        for (int attempt = 1; ; attempt++) {
            try {
                return peer.stand(url, election);
            } catch (RuntimeException e) {
                if (attempt == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private void watch() {
        while (true) {
            candidates.forEach((peer, candidate) -> {
                long asked = System.nanoTime();
                boolean leads = candidate.isLeader();
                long answered = System.nanoTime();
                if (!leads) {
                    lastLed.remove(peer);
                    return;
                }
                Long last = lastLed.put(peer, answered);
                page.leads(peer, last == null || answered - last > LeaderPage.GAP_NANOS, asked, answered);
            });
            Schedule.pause(POLL);
        }
    }
}
