package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.spi.Mode;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.History.Held;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Cases with children that contend for one name, and what they saw. */
abstract class ContenderCases extends Cases {
    /** For a server, a watch and a child on a busy machine; a waiter that only polls ZooKeeper takes longer. */
    static final Duration SLACK = Duration.ofSeconds(3);

    /** A store that is blocked for longer costs the holders beside it their leases. */
    private static final Duration SOON = Duration.ofMillis(250);

    private static final Duration SHORTEST_LEASE = Duration.ofMillis(2_500);
    private static final Duration LEAVES_WITHIN = Duration.ofSeconds(5);

    /** Processes that earlier cases have left alive: a start takes a second of processor time. */
    private static final Deque<ChildProcess> IDLE = new ConcurrentLinkedDeque<>();

    static final Pattern HOLDING = Pattern.compile("holding (\\d+) (\\d+)");

    @TempDir
    Path folder;

    private final List<Path> logs = new ArrayList<>();
    String name = "";
    String url = "";

    ContenderCases(StoreContract contract) {
        super(contract);
    }

    @BeforeEach
    void needsAUrl() {
        Optional<String> known = rig.contract.url();
        assumeTrue(known.isPresent(), "no other process can reach this store: it has no URL");
        url = known.get();
        name = rig.name();
    }

    /** Starts children at the same time, and checks that their clocks are this process's. */
    List<ChildProcess> contenders(int count, Duration lease) {
        return contenders(lease, Collections.nCopies(count, Mode.EXCLUSIVE).toArray(Mode[]::new));
    }

    /** The same, one for each mode. */
    List<ChildProcess> contenders(Duration lease, Mode... modes) {
        List<ChildProcess> children =
                Stream.of(modes).map(mode -> contender(mode, lease)).toList();
        for (ChildProcess child : children) {
            child.expect("ready", patient());
            long before = System.nanoTime();
            child.send("clock");
            long there = Long.parseLong(child.expect("clock ", patient()).substring("clock ".length()));
            assumeTrue(
                    there >= before && there <= System.nanoTime(),
                    "processes of this machine do not share System.nanoTime(): their stamps cannot be compared");
        }
        return children;
    }

    /** A file for what one more child sees. */
    Path newLog() {
        Path log = folder.resolve("contender-" + logs.size() + ".log");
        logs.add(log);
        return log;
    }

    private ChildProcess contender(Mode mode, Duration lease) {
        ChildProcess idle = IDLE.poll();
        ChildProcess child = idle != null
                ? idle
                : ChildJvm.main(Contender.class)
                        .flags("-Xmx64m", "-XX:+UseSerialGC")
                        .start();
        rig.closing(() -> leave(child));
        child.send(String.join(
                "\t",
                url,
                name,
                Long.toString(lease.toMillis()),
                newLog().toString(),
                sharedFile().toString(),
                Modes.write(mode)));
        return child;
    }

    /** To the next case, unless it was killed or does not answer. */
    private static void leave(ChildProcess child) {
        try {
            child.send("end");
            child.expect("ended", LEAVES_WITHIN);
            IDLE.push(child);
        } catch (AssertionError gone) {
            child.close();
        }
    }

    long acquire(ChildProcess child) {
        child.send("acquire");
        return tokenOf(child);
    }

    long tokenOf(ChildProcess holder) {
        return Long.parseLong(holder.expect(HOLDING, patient()).group(1));
    }

    /**
     * Stops a child while it asks the store for nothing. Of an embedded store, one stopped inside a request blocks all
     * others, as the store's caveats say; another test may look into that.
     */
    void stopBetweenRequests(ChildProcess child) {
        RawClient raw = rig.raw();
        rig.patience.until(child + " to be stopped between two requests", () -> {
            child.stop();
            boolean free =
                    isAnsweredSoon(Asked.of(raw.store, Claims.of(rig.name())).answer());
            if (!free) {
                child.cont();
            }
            return free;
        });
    }

    private static boolean isAnsweredSoon(CompletionStage<?> request) throws Exception {
        try {
            request.toCompletableFuture().get(SOON.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException blocked) {
            return false;
        }
    }

    /** Long enough that a child on a busy machine is in time to renew it. */
    Duration lease() {
        Duration some = rig.brief().multipliedBy(4);
        return some.compareTo(SHORTEST_LEASE) < 0 ? SHORTEST_LEASE : some;
    }

    /** What the store makes of it: a session has a lease of its own. */
    Duration leaseInStore() {
        return rig.raw().hold(rig.name(), lease()).lease();
    }

    Duration patient() {
        return rig.contract.patience().multipliedBy(2);
    }

    Path sharedFile() {
        return folder.resolve("shared");
    }

    /** What the children saw, without a violation. */
    History judged() throws Exception {
        List<Held> holds = new ArrayList<>();
        for (Path log : logs) {
            holds.addAll(HoldLog.read(log));
        }
        History history = History.of(holds);
        assertThat(history.violations()).isEmpty();
        return history;
    }
}
