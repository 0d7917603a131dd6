package dev.holdfast.ladder.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryForever;

/**
 * A holder and a rival who waits for the same lock, over servers of their own, as two libraries would have it: Holdfast,
 * and Curator's mutex whose holder believes in it until a listener is told something. Told is for how long the holder went
 * on believing when the rival had the lock.
 */
final class Contest implements AutoCloseable {
    static final Duration SESSION = Duration.ofSeconds(3);
    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final long POLL_NANOS = 500_000;
    private static final String SETTINGS = "?session=3s&tick=300ms&timeout=2s";

    private final String name;
    private final LockClient client;
    private final LockClient rival;
    private final CuratorFramework curator;
    private final CuratorFramework curatorsRival;
    private final CompletableFuture<Long> suspended = new CompletableFuture<>();
    private final CompletableFuture<Long> lost = new CompletableFuture<>();

    private CompletableFuture<Hold> next = new CompletableFuture<>();
    private CompletableFuture<Long> hadIt = new CompletableFuture<>();
    private CompletableFuture<Long> hadTheMutex = new CompletableFuture<>();
    private CompletableFuture<Long> ended = new CompletableFuture<>();

    /** How long a holder believed beside its rival; nothing where it stopped before. */
    record Overlaps(Duration holdfast, Duration untilSuspended, Duration untilLost) {}

    Contest(String name, String servers, String rivalsServers) {
        this.name = name;
        client = LockClient.connect("zk://" + servers + SETTINGS);
        rival = LockClient.connect("zk://" + rivalsServers + SETTINGS);
        curator = connect(servers);
        curatorsRival = connect(rivalsServers);
        curator.getConnectionStateListenable().addListener((which, state) -> {
            if (state == ConnectionState.SUSPENDED) {
                suspended.complete(System.nanoTime());
            } else if (state == ConnectionState.LOST) {
                lost.complete(System.nanoTime());
            }
        });
    }

    /** The holders hold, and the rivals wait. */
    void begin() throws Exception {
        Hold hold = client.lock(name).acquire();
        next = rival.lock(name).acquireAsync();
        hadIt = next.thenApply(granted -> System.nanoTime());
        ended = CompletableFuture.supplyAsync(() -> endOf(hold), Contest::onAThread);
        new InterProcessMutex(curator, "/" + name).acquire();
        hadTheMutex = CompletableFuture.supplyAsync(this::getTheMutex, Contest::onAThread);
        await().atMost(PATIENCE).until(() -> rival.lock(name).status().waiting() == 1);
        await().atMost(PATIENCE)
                .until(() -> curatorsRival.getChildren().forPath("/" + name).size() == 2);
    }

    /** When it surely was believed in for the last time: just before the last look that found it valid. */
    private static long endOf(Hold hold) {
        long believed = System.nanoTime();
        for (long look = believed; hold.isValid(); look = System.nanoTime()) {
            believed = look;
            LockSupport.parkNanos(POLL_NANOS);
        }
        return believed;
    }

    private long getTheMutex() {
        try {
            new InterProcessMutex(curatorsRival, "/" + name).acquire();
            return System.nanoTime();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    Overlaps overlaps() {
        long rivals = get("the rival had Curator's mutex", hadTheMutex);
        return new Overlaps(
                beside(get("the rival had the lock", hadIt), get("the hold ended", ended)),
                beside(rivals, get("Curator said SUSPENDED", suspended)),
                beside(rivals, get("Curator said LOST", lost)));
    }

    private static Duration beside(long rivalHadIt, long believedUntil) {
        return Duration.ofNanos(Math.max(0, believedUntil - rivalHadIt));
    }

    private static long get(String what, CompletableFuture<Long> when) {
        assertThat(when).as(what).succeedsWithin(PATIENCE);
        return when.join();
    }

    private static CuratorFramework connect(String servers) {
        CuratorFramework made = CuratorFrameworkFactory.builder()
                .connectString(servers)
                .sessionTimeoutMs((int) SESSION.toMillis())
                .ensembleTracker(false)
                .retryPolicy(new RetryForever(200))
                .build();
        made.start();
        return made;
    }

    private static void onAThread(Runnable task) {
        Thread thread = new Thread(task, "contest");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() {
        client.close();
        rival.close();
        curator.close();
        curatorsRival.close();
    }
}
