package dev.holdfast.challenge;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.challenge.Crew.Member;
import dev.holdfast.challenge.store.Target;
import dev.holdfast.challenge.worker.Worker;
import dev.holdfast.testbed.Await;
import dev.holdfast.testbed.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What Holdfast's clients have left behind when all workers have closed theirs: in the store, which is looked at by other
 * means than Holdfast's own; and threads, connections and open files.
 *
 * <p>For one thread.
 */
final class Leftovers {
    private static final Duration POLL = Duration.ofMillis(50);
    /** What it may take until a proxy has heard of the end of a connection. */
    private static final Duration CLOSING = Duration.ofSeconds(10);

    private final Target target;
    private final boolean afterKills;
    private final List<String> workingThreads = new ArrayList<>();
    private final List<String> ofClients = new ArrayList<>();
    private final List<String> notLookedInto = new ArrayList<>();
    /** All that the store kept of all locks at the last look. */
    private List<String> kept = List.of();

    /**
     * Looks into the processes.
     *
     * @param threads which each worker says are left
     * @param afterKills whether workers were killed
     */
    Leftovers(Target target, Map<Member, List<String>> threads, boolean afterKills) {
        this.target = target;
        this.afterKills = afterKills;
        threads.forEach((member, left) -> {
            List<String> working = left.stream()
                    .filter(thread -> thread.startsWith(Worker.THREAD))
                    .toList();
            left.stream()
                    .filter(thread -> !working.contains(thread))
                    .forEach(thread -> ofClients.add("a thread of a closed client: " + thread));
            if (working.isEmpty()) {
                addOpen(member);
            } else { // whose lock may be a wrong one that has not closed its connection
                workingThreads.addAll(working);
                notLookedInto.add("worker " + member.number + " has threads that do not end their turns: "
                        + String.join(", ", working));
            }
        });
    }

    private void addOpen(Member member) {
        boolean unused = Await.until(CLOSING, POLL, () -> open(member).isEmpty());
        open(member).forEach(each -> ofClients.add("open after all clients were closed: " + each));
    }

    private List<String> open(Member member) {
        return member.proxy
                .map(TcpProxy::keptByClients)
                .map(open -> open == 0 ? List.<String>of() : List.of(open + " connections"))
                .orElseGet(() -> target.openIn(member.process.pid()));
    }

    /** Of which workers it is not known what connections and files they have open, and why. */
    List<String> notLookedInto() {
        return notLookedInto;
    }

    /** What is left of each of these locks. */
    Map<Lane, List<String>> of(List<Lane> locks) {
        if (afterKills) {
            useOnce(locks);
        }
        // What a claim without an answer may have left is gone within a lease.
        Duration limit =
                locks.stream().map(Lane::limit).max(Duration::compareTo).orElse(Duration.ZERO);
        boolean unused = Await.until(limit, POLL, () -> {
            kept = target.kept();
            return locks.stream().allMatch(lane -> lane.entriesOf(kept).isEmpty());
        });
        Map<Lane, List<String>> left = new HashMap<>();
        for (Lane lane : locks) {
            List<String> found = new ArrayList<>(ofClients);
            lane.entriesOf(kept).forEach(each -> found.add("in the store: " + each));
            if (workingThreads.contains(Worker.THREAD + lane.number())) {
                found.add("a thread that does not end its turn");
            }
            left.put(lane, found);
        }
        return left;
    }

    /** What a killed worker had in the row of a SQL server stays there, out of force, until the next claim. */
    private void useOnce(List<Lane> locks) {
        try (LockClient client = LockClient.connect(target.url())) {
            for (Lane lane : locks) {
                client.lock(lane.name()).tryAcquire(lane.limit()).ifPresent(Hold::close);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
