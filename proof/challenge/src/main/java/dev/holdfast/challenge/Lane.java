package dev.holdfast.challenge;

import dev.holdfast.challenge.history.LaneHistory.Bite;
import dev.holdfast.challenge.history.LaneHistory.Probe;
import dev.holdfast.challenge.history.Turn;
import dev.holdfast.challenge.history.TurnFile;
import dev.holdfast.challenge.lock.LockKind;
import dev.holdfast.challenge.workload.Workload;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Mode.Permits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** One lock under attack, as all workers use it for as long as one heat goes on. */
public final class Lane {
    /** Over the lease: what a busy machine may take. */
    private static final Duration GRACE = Duration.ofSeconds(20);
    /** For a wrong lock that may never be had again, where nothing is concluded from that, or there is no time. */
    private static final Duration SHORT_GRACE = Duration.ofSeconds(2);

    /** A worker that is kept in its hold looks each 5 ms. */
    private static final Duration SHORTLY = Duration.ofMillis(250);

    private final int number;
    private final String name;
    private final LockKind lock;
    private final Workload workload;
    private final Duration limit;
    private final Map<Integer, TurnFile> files = new TreeMap<>();
    private final List<Bite> bites = new ArrayList<>();
    private final List<Probe> probes = new ArrayList<>();
    private boolean dead;

    Lane(int number, String name, LockKind lock, Workload workload, boolean isQuick) {
        this.number = number;
        this.name = name;
        this.lock = lock;
        this.workload = workload;
        this.limit = lock.lease().plus(isWrong() && (isQuick || !isLiveness()) ? SHORT_GRACE : GRACE);
    }

    int number() {
        return number;
    }

    String name() {
        return name;
    }

    /** The lock. */
    public LockKind lock() {
        return lock;
    }

    /** Whether it is this library's. */
    boolean isOurs() {
        return lock.role() == LockKind.Role.HOLDFAST;
    }

    /** Which of the entries that a store keeps are its own. */
    List<String> entriesOf(List<String> kept) {
        return kept.stream().filter(entry -> entry.contains(name)).toList();
    }

    /** Whether it is wrong on purpose. */
    boolean isWrong() {
        return lock.role() == LockKind.Role.WRONG;
    }

    /** Whether it is a promise that each worker gets it, and not only one of them. */
    boolean isForEach() {
        return workload.isForEach() && !isWrong();
    }

    Workload workload() {
        return workload;
    }

    Duration limit() {
        return limit;
    }

    /** The same before anything is done to it. */
    Duration firstLimit() {
        return lock.lease().plus(GRACE);
    }

    void opened(int worker, TurnFile file) {
        files.put(worker, file);
    }

    List<Turn> turns() {
        return files.values().stream().flatMap(file -> file.turns().stream()).toList();
    }

    List<Bite> bites() {
        return bites;
    }

    List<Probe> probes() {
        return probes;
    }

    void bite(Bite bite) {
        bites.add(bite);
    }

    void probe(Probe probe) {
        probes.add(probe);
        dead = probe.obtained() == 0 && (!isWrong() || isLiveness());
    }

    /** Whether it is wrong in that it cannot be had any more. */
    private boolean isLiveness() {
        return lock.caught().checks().contains("liveness");
    }

    /** Whether it could not be had when it should: nothing more is expected of it. A slow one is still to be caught. */
    boolean isDead() {
        return dead;
    }

    int turnsOf(int worker) {
        return file(worker).count();
    }

    /** Whether the worker is in a hold. */
    public boolean isHeldBy(int worker) {
        Turn turn = file(worker).lastTurn();
        return turn != null && turn.isHolding();
    }

    /** When the worker last asked for it, in a turn that may be over; empty before the first. */
    OptionalLong lastAsked(int worker) {
        Turn turn = file(worker).lastTurn();
        return turn == null ? OptionalLong.empty() : OptionalLong.of(turn.asked());
    }

    /** Whether the worker waits, and has for so long. */
    public boolean isAskedBy(int worker, Duration longEnough) {
        Turn turn = file(worker).lastTurn();
        return turn != null && turn.isAsking() && System.nanoTime() - turn.asked() > longEnough.toNanos();
    }

    /** Whether the worker held at that moment, and had found itself holding shortly before. */
    public boolean wasHeldBy(int worker, long moment) {
        Turn turn = lastBegun(worker, moment);
        return turn != null
                && Math.max(turn.began(), turn.lastValid()) - moment > -SHORTLY.toNanos()
                && (turn.leaving() == 0 || turn.leaving() - moment >= 0);
    }

    /** Whether the last hold of the worker that had begun at that moment was being released, or had been. */
    public boolean wasReleasedBy(int worker, long moment) {
        Turn turn = lastBegun(worker, moment);
        return turn != null && turn.leaving() != 0 && turn.leaving() - moment <= 0;
    }

    /** The worker's last hold that had begun at that moment. */
    private @Nullable Turn lastBegun(int worker, long moment) {
        TurnFile file = file(worker);
        for (int i = file.count() - 1; i >= 0; i--) {
            Turn turn = file.turn(i);
            if (turn.isHold() && turn.began() - moment <= 0) {
                return turn;
            }
        }
        return null;
    }

    /** Whether the worker's turn of that number, from 1, ended without the lock. */
    boolean isGivenUp(int worker, int turn) {
        Turn given = file(worker).turn(turn - 1);
        return given.left() != 0 && !given.isHold();
    }

    /** Whether the worker began a hold after that moment. */
    public boolean isHadBy(int worker, long since) {
        TurnFile file = file(worker);
        int count = file.count();
        // The last turn may have only been asked for.
        return IntStream.range(Math.max(0, count - 2), count)
                .mapToObj(file::turn)
                .anyMatch(turn -> turn.isHold() && turn.began() - since > 0);
    }

    /**
     * Whether others have what the victim held when something was done to it: all of it, with what was theirs. Readers may be
     * beside a reader.
     */
    public boolean isTakenFrom(int victim, long since) {
        Turn held = file(victim).lastTurn();
        boolean wasReading = held != null && held.mode() instanceof Mode.Shared;
        List<Turn> now = new ArrayList<>();
        files.forEach((worker, file) -> {
            Turn turn = file.lastTurn();
            if (worker != victim
                    && turn != null
                    && turn.isHold()
                    && turn.began() - since > 0
                    && !(wasReading && turn.mode() instanceof Mode.Shared)) {
                now.add(turn);
            }
        });
        if (!now.isEmpty() && now.get(0).mode() instanceof Permits permits) {
            return now.size() >= permits.of()
                    && now.stream().allMatch(turn -> now.stream().allMatch(other -> meet(turn, other)));
        }
        return !now.isEmpty();
    }

    private static boolean meet(Turn one, Turn other) {
        return Math.max(one.began(), other.began()) < Math.min(end(one), end(other));
    }

    private static long end(Turn turn) {
        return turn.leaving() == 0 ? Long.MAX_VALUE : turn.leaving();
    }

    private TurnFile file(int worker) {
        return Objects.requireNonNull(files.get(worker), "worker " + worker + " is not at " + name);
    }
}
