package dev.holdfast.challenge;

import dev.holdfast.challenge.Crew.Member;
import dev.holdfast.challenge.check.Check;
import dev.holdfast.challenge.check.Check.Violation;
import dev.holdfast.challenge.fault.Fault;
import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.history.LaneHistory.Bite;
import dev.holdfast.challenge.history.LaneHistory.Cell;
import dev.holdfast.challenge.history.LaneHistory.Probe;
import dev.holdfast.challenge.history.TurnFile;
import dev.holdfast.challenge.lock.Arbiter;
import dev.holdfast.challenge.lock.LockKind;
import dev.holdfast.challenge.lock.LockKind.Role;
import dev.holdfast.challenge.store.Target;
import dev.holdfast.challenge.workload.Workload;
import dev.holdfast.testbed.Await;
import dev.holdfast.testbed.ReplyDrop;
import dev.holdfast.testbed.Stalls;
import dev.holdfast.testbed.TcpProxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * One fault, made again and again to all locks of a store at once: each worker process is at every lock, so that what is done
 * to the process is done to all of them, and a lease is waited out once for all.
 *
 * <pre>
 *   worker 1   ═ ══ ═    ════════ stopped ═══════╗  ══       pinned: the holder stays until it is unpinned
 *   worker 2     ═    ═ ═         ╎     ═  ═  ═  ╎     ═     others get the lock: the fault has bitten
 *   worker 3   ═   ══             ╎   ═   ═   ═  ╎   ═
 *              race      pin     bite       heal, unpin   probe: all get the lock again
 * </pre>
 *
 * <p>For one thread.
 */
public final class Heat {
    private static final Duration ARRIVAL = Duration.ofSeconds(20);
    /** A wrong lock may never come to it. */
    private static final Duration WRONG_ARRIVAL = Duration.ofSeconds(2);

    /** For conditions that come true at the end of a limit. */
    private static final Duration FOR_EVER = Duration.ofDays(1);

    private static final Duration POLL = Duration.ofMillis(10);
    private static final Duration REQUEST = Duration.ofSeconds(5);
    private static final Duration REACHED_THE_STORE = Duration.ofMillis(100);

    /** Between two turns of a worker at a lock, while there are few locks; many locks are used less often each. */
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(40);

    private static final int FEW_LANES = 12;

    /** How long nothing may happen that should not, while somebody could make it happen. */
    private static final Duration WATCHED = Duration.ofSeconds(2);

    /** After it no further event begins: what was planned was too much for this machine, or for somebody's lease. */
    private static final Duration LONGEST = Duration.ofMinutes(5);

    /** How much oftener a fault is made at most, until each wrong lock is caught. */
    private static final int MORE = 10;

    /** How often a worker is kept in its holds at most, until the store was seen to keep each of them. */
    private static final int LOOKS = 3;

    private static final Duration CLOCK_STEP = Duration.ofHours(1);
    private static final Duration CLOCK_ERROR = Duration.ofMinutes(1);

    private static final Stalls STALLS = Stalls.watch();

    private final Cell place;
    private final Fault fault;
    private final Crew crew;
    private final Target target;
    private final Pulse pulse;
    private final Arbiter arbiter;
    private final Path folder;
    private final long seed;
    private final Random random;
    private final Duration longestPause;
    private final List<Lane> lanes = new ArrayList<>();
    /** This library's locks that the store was not seen to keep yet while a worker held them. */
    private final Set<Lane> unseen = new HashSet<>();

    private List<String> notLookedInto = List.of();
    private boolean hasReplaced;
    /** How many workers have come to this heat. */
    private int begun;

    /** A worker that is kept in its holds, and the locks that it holds. */
    public record Pinned(int victim, List<Lane> lanes) {}

    /** A lock and what is done with it. */
    record Entry(LockKind lock, Workload workload) {}

    Heat(String store, Start start, Fault fault, List<Entry> entries, long seed, boolean isQuick) {
        this.place = new Cell(store, "", "", fault.id());
        this.target = start.target;
        this.fault = fault;
        this.crew = start.crew;
        this.pulse = start.pulse;
        this.arbiter = start.arbiter;
        this.folder = start.folder;
        this.seed = seed;
        this.random = new Random(seed);
        this.longestPause = LONGEST_PAUSE.multipliedBy(Math.max(1, entries.size() / FEW_LANES));
        String prefix = "c" + Long.toString(seed, Character.MAX_RADIX) + "h" + start.nextHeat();
        for (Entry entry : entries) {
            int number = lanes.size();
            String name = prefix + "n" + number + "-" + fault.id();
            lanes.add(new Lane(number, name, entry.lock(), entry.workload(), isQuick));
        }
        lanes.stream().filter(Lane::isOurs).forEach(unseen::add);
    }

    /** Makes the fault so many times, and returns what became of each lock. */
    List<LaneHistory> run(int times) {
        lanes.forEach(lane -> crew.stage.lane(lane.number()).clear());
        crew.members().forEach(this::begin);
        crew.members().forEach(this::awaitOpened);
        probe();
        long end = System.nanoTime() + LONGEST.toNanos();
        for (int made = 0; made < times && System.nanoTime() - end < 0; made++) {
            fault.bite(this);
        }
        // One that uses the store up cannot be made again: its bites would be none.
        for (int more = 0; more < MORE && !fault.usesUp() && !(areWrongLocksCaught() && areAllBitten()); more++) {
            fault.bite(this);
        }
        for (int look = 0; look < LOOKS && !unseen().isEmpty(); look++) {
            Pinned unused = pin(); // the look is a part of it
        }
        crew.stage.unpin();
        return end();
    }

    /** This library's locks that the store did not show while a worker held them: that none is left there proves nothing. */
    List<String> unseen() {
        return lanes().stream()
                .filter(unseen::contains)
                .map(lane -> lane.lock().id() + "/" + lane.workload().id())
                .toList();
    }

    /** Workers of whose connections and open files nothing is known at the end. */
    List<String> notLookedInto() {
        return notLookedInto;
    }

    /** A race takes its time to be lost, on a machine that does other work too. */
    private boolean areWrongLocksCaught() {
        return lanes.stream().filter(Lane::isWrong).allMatch(lane -> {
            Set<String> found = Check.judge(history(lane, arbiter.residue(lane.name()))).stream()
                    .map(Violation::check)
                    .collect(Collectors.toSet());
            return found.containsAll(lane.lock().caught().checks());
        });
    }

    /** A fault may come a moment too early or too late for a lock. */
    private boolean areAllBitten() {
        return lanes().stream()
                .filter(Lane::isOurs)
                .allMatch(lane -> lane.bites().stream().anyMatch(Bite::bit));
    }

    private LaneHistory history(Lane lane, List<String> residue) {
        return new LaneHistory(
                new Cell(place.store(), lane.lock().id(), lane.workload().id(), fault.id()),
                seed,
                lane.turns(),
                List.copyOf(lane.bites()),
                List.copyOf(lane.probes()),
                residue,
                pulse.stalls());
    }

    private void begin(Member member) {
        begun++; // its own number grows with each kill of earlier heats, which are not made again
        for (Lane lane : lanes) {
            Path file = folder.resolve(lane.name() + "-" + member.number);
            lane.opened(member.number, new TurnFile(file, member.number));
            member.process.send(String.join(
                    " ",
                    "lane",
                    Integer.toString(lane.number()),
                    Integer.toString(member.number),
                    place.store(),
                    lane.lock().id(),
                    lane.workload().id(),
                    lane.name(),
                    fault.needsOwnClients() ? "own" : "shared",
                    member.url,
                    Integer.toString(arbiter.port()),
                    file.toString(),
                    Long.toString(seed + begun),
                    Long.toString(longestPause.toMillis())));
        }
    }

    private void awaitOpened(Member member) {
        for (int i = 0; i < lanes.size(); i++) {
            String answer = member.process.expect(
                    line -> line.startsWith("opened ") || line.startsWith("failed "), Crew.PATIENCE);
            if (answer.startsWith("failed ")) {
                throw new IllegalStateException("a lock on " + place.store() + " cannot be opened: lane " + answer);
            }
        }
    }

    private List<LaneHistory> end() {
        crew.members().forEach(member -> member.process.send("end"));
        Map<Member, List<String>> threads = new LinkedHashMap<>();
        for (Member member : crew.members()) {
            String left = member.process.expect("ended ", Crew.PATIENCE).substring("ended ".length());
            threads.put(member, left.isEmpty() ? List.of() : List.of(left.split(",")));
        }
        List<Lane> ours = lanes.stream().filter(Lane::isOurs).toList();
        Map<Lane, List<String>> residue = new HashMap<>();
        if (!ours.isEmpty()) {
            Leftovers leftovers = new Leftovers(target, threads, hasReplaced);
            residue.putAll(leftovers.of(ours));
            notLookedInto = leftovers.notLookedInto();
        }
        return lanes.stream()
                .map(lane -> history(lane, residue.getOrDefault(lane, arbiter.residue(lane.name()))))
                .toList();
    }

    // What faults are made of.

    /** The locks from which something is still expected. */
    public List<Lane> lanes() {
        return lanes.stream().filter(lane -> !lane.isDead()).toList();
    }

    /** The store. */
    public Target target() {
        return target;
    }

    /** The locks that nobody was granted since that moment. */
    public List<Lane> notHadSince(long moment) {
        return lanes().stream()
                .filter(lane -> crew.members().stream().noneMatch(member -> lane.isHadBy(member.number, moment)))
                .toList();
    }

    /** Keeps a worker, chosen at random, in its holds; some locks may not come to it in time. */
    public Pinned pin() {
        return pin(ARRIVAL);
    }

    /** The same, with a patience of its own. */
    public Pinned pin(Duration patience) {
        int victim = anyone();
        crew.stage.pin(victim);
        crew.stage.admitAll(); // where all were barred
        Predicate<Lane> hasArrived = lane -> crew.stage.lane(lane.number()).hasArrived() && lane.isHeldBy(victim);
        List<Lane> right = lanes().stream().filter(lane -> !lane.isWrong()).toList();
        List<Lane> unused = await(right, patience, hasArrived);
        unused = await(lanes(), WRONG_ARRIVAL, hasArrived);
        Pinned pinned = new Pinned(victim, lanes().stream().filter(hasArrived).toList());
        if (pinned.lanes().stream().anyMatch(unseen::contains)) {
            List<String> kept = target.kept();
            unseen.removeIf(lane ->
                    pinned.lanes().contains(lane) && !lane.entriesOf(kept).isEmpty());
        }
        return pinned;
    }

    /** Lets it release its locks. */
    public void unpin() {
        crew.stage.unpin();
    }

    /** Keeps all workers from asking, and returns which locks are free then. */
    public List<Lane> bar() {
        crew.stage.bar();
        return await(lanes(), ARRIVAL, this::isFree);
    }

    /** Lets one worker ask for the locks, which it finds free. */
    public void admit(int worker) {
        crew.stage.admit(worker);
    }

    /** Lets all ask again. */
    public void admitAll() {
        crew.stage.admitAll();
    }

    /** A worker, chosen at random. */
    public int anyone() {
        return crew.members().get(random.nextInt(crew.members().size())).number;
    }

    /** Resets a worker's connections to the server; whether it had any. */
    public boolean reset(int worker) {
        return proxy(worker).cut() > 0;
    }

    /** Another worker. */
    public int anotherThan(int worker) {
        return crew.members().stream()
                .map(member -> member.number)
                .filter(number -> number != worker)
                .findFirst()
                .orElseThrow();
    }

    /** Stops a worker; the moment before. */
    public long stop(int worker) {
        long now = System.nanoTime();
        member(worker).process.stop();
        return now;
    }

    /** Lets it go on. */
    public void goOn(int worker) {
        member(worker).process.cont();
    }

    /** Kills a worker; the moment before. */
    public long kill(int worker) {
        long now = System.nanoTime();
        member(worker).process.kill();
        return now;
    }

    /**
     * Has another one begin in the place of one that was killed. It has begun when it has had the locks that no store keeps:
     * what a JVM needs to start, on a machine that does other work too, is not the time of anybody's lock.
     */
    public void replace(int killed) {
        hasReplaced = true;
        Member next = crew.replace(member(killed));
        begin(next);
        awaitOpened(next);
        long opened = System.nanoTime();
        List<Lane> right = lanes().stream()
                .filter(lane -> lane.lock().role() == Role.RIGHT)
                .toList();
        List<Lane> unused = await(right, Crew.PATIENCE, lane -> lane.isHadBy(next.number, opened));
    }

    /** Kills the server, and starts it with what it has on disk; returns when it answers. */
    public void restartServer() {
        target.process().orElseThrow().restart();
    }

    /** What lies between a worker and the server. */
    public TcpProxy proxy(int worker) {
        return member(worker).proxy.orElseThrow();
    }

    /**
     * Which of the locks a worker's next request loses its reply for, and when; it names the lock, and is made by running the
     * last. The reply is the one by which the server has done it: of a transaction, that to its commit.
     */
    public Map<Lane, Long> loseReplies(int worker, List<Lane> locks, Runnable request) {
        Map<Lane, ReplyDrop> drops = new LinkedHashMap<>();
        for (Lane lane : locks) {
            if (lane.lock().isInStore()) {
                drops.put(lane, proxy(worker).dropNextReply(lane.lock().requestFor(lane.name()), target.isDone()));
            }
        }
        request.run();
        List<Lane> lost = await(
                List.copyOf(drops.keySet()),
                REQUEST,
                lane -> Objects.requireNonNull(drops.get(lane)).hasBitten());
        drops.values().forEach(ReplyDrop::cancel);
        Map<Lane, Long> moments = new LinkedHashMap<>();
        lost.forEach(lane ->
                moments.put(lane, Objects.requireNonNull(drops.get(lane)).bittenAt()));
        return moments;
    }

    /**
     * Which of the locks that a silent worker holds go to others, of those with a lease. For one that does not in time, somebody
     * has waited in vain; what other libraries promise of that is not known here.
     */
    public List<Lane> awaitTaken(Pinned pinned, long since) {
        List<Lane> leased = pinned.lanes().stream()
                .filter(lane -> !lane.lock().lease().isZero())
                .toList();
        List<Lane> taken = new ArrayList<>();
        List<Lane> unused = await(leased, FOR_EVER, lane -> {
            boolean isTooLate = isOver(since, lane.limit());
            if (lane.isTakenFrom(pinned.victim(), since)) {
                taken.add(lane);
                return true;
            }
            return isTooLate;
        });
        // A process that is stopped while it has the file of a store to itself keeps all locks in it from others.
        boolean isFileFree =
                !target.isFile() || taken.stream().anyMatch(lane -> lane.lock().isInStore());
        leased.stream()
                .filter(lane -> !taken.contains(lane) && lane.lock().role() != Role.PEER)
                .filter(lane -> isFileFree || !lane.lock().isInStore())
                .forEach(lane -> lane.probe(new Probe(since, 0, lane.limit().toNanos())));
        return taken;
    }

    /** Which of the locks that a worker holds go to others, although nobody released them and no lease is over. */
    public List<Lane> awaitGrantedTwice(Pinned pinned, long since) {
        List<Lane> wanted =
                pinned.lanes().stream().filter(lane -> lane.lock().isInStore()).toList();
        Duration longest = wanted.stream()
                .map(lane -> lane.lock().lease())
                .max(Duration::compareTo)
                .orElse(Duration.ZERO);
        return await(wanted, longest.plus(ARRIVAL), lane -> lane.isTakenFrom(pinned.victim(), since));
    }

    /** Which of the locks that a worker holds go to others meanwhile, although nobody released them. */
    public List<Lane> watch(Pinned pinned, long since) {
        return await(pinned.lanes(), WATCHED, lane -> lane.isTakenFrom(pinned.victim(), since));
    }

    /** A step of a clock, an hour forward or back. */
    public Duration anyStep() {
        return random.nextBoolean() ? CLOCK_STEP : CLOCK_STEP.negated();
    }

    /** Whether the wall clocks of the workers can be set. */
    public boolean hasClocks() {
        return crew.members().stream().allMatch(member -> member.clock.isPresent());
    }

    /** Sets a worker's wall clock; whether the worker sees it. */
    public boolean setClock(int worker, Duration offset) {
        Member member = member(worker);
        member.clock.orElseThrow().set(offset);
        member.process.send("wall");
        String answer = member.process.expect("wall ", Crew.PATIENCE);
        return isAbout(Long.parseLong(answer.substring("wall ".length())), offset);
    }

    /** Sets the wall clock of the server; whether it answers with that time. */
    public boolean setStoreClock(Duration offset) {
        target.clock().orElseThrow().set(offset);
        return isAbout(target.wallMillis(), offset);
    }

    private static boolean isAbout(long millis, Duration offset) {
        long error = millis - System.currentTimeMillis() - offset.toMillis();
        return Math.abs(error) < CLOCK_ERROR.toMillis();
    }

    /** Interrupts a worker where it waits; for which of the locks that ended its wait without the lock. */
    public List<Lane> interrupt(int waiter, List<Lane> waiting) {
        Map<Lane, Integer> turns = new HashMap<>();
        waiting.forEach(lane -> turns.put(lane, lane.turnsOf(waiter)));
        member(waiter).process.send("interrupt");
        return await(waiting, REQUEST, lane -> lane.isGivenUp(waiter, Objects.requireNonNull(turns.get(lane))));
    }

    /** Which of the locks a worker waits for, so long that its claims have reached the store. */
    public List<Lane> awaitAsked(Pinned pinned, int waiter) {
        return await(pinned.lanes(), ARRIVAL, lane -> lane.isAskedBy(waiter, REACHED_THE_STORE));
    }

    /** Awaits that all others wait for the locks that a worker holds. */
    public void awaitWaiters(Pinned pinned) {
        long arrived = System.nanoTime();
        List<Lane> unused = await(
                pinned.lanes(),
                ARRIVAL,
                lane -> !lane.workload().isForEach()
                        || crew.members().stream()
                                .allMatch(member -> member.number == pinned.victim()
                                        || lane.isAskedBy(member.number, Duration.ZERO)
                                        || lane.isHadBy(member.number, arrived)));
    }

    /** Which of the locks a dead worker held when it died. */
    public List<Lane> stillHeld(Pinned pinned) {
        return pinned.lanes().stream()
                .filter(lane -> lane.isHeldBy(pinned.victim()))
                .toList();
    }

    /** Which of the locks a dead worker waited for when it died. */
    public List<Lane> stillAsked(List<Lane> locks, int waiter) {
        return locks.stream()
                .filter(lane -> lane.isAskedBy(waiter, Duration.ZERO))
                .toList();
    }

    /** Awaits that each worker has had so many more turns at each lock; those for which it came true. */
    public List<Lane> awaitTurns(int turns) {
        Map<Lane, Map<Integer, Integer>> before = new HashMap<>();
        lanes().forEach(lane -> before.put(
                lane,
                crew.members().stream()
                        .collect(Collectors.toMap(member -> member.number, member -> lane.turnsOf(member.number)))));
        return await(lanes(), Crew.PATIENCE, lane -> {
            Map<Integer, Integer> had = Objects.requireNonNull(before.get(lane));
            return lane.isForEach()
                    ? had.entrySet().stream().allMatch(each -> lane.turnsOf(each.getKey()) >= each.getValue() + turns)
                    : had.keySet().stream().mapToInt(lane::turnsOf).sum()
                            > had.values().stream().mapToInt(Integer::intValue).sum();
        });
    }

    /**
     * Records that something was done, which all locks may have felt, and which of them it is proven to have bitten.
     *
     * @param victim the number of the worker it was done to, {@link Bite#ALL} or {@link Bite#NOBODY}
     */
    public void bitten(List<Lane> bitten, int victim, long began) {
        long healed = System.nanoTime();
        lanes.stream()
                // one that could not be had after the first half of this fault was bitten by it all the same
                .filter(lane -> !lane.isDead() || bitten.contains(lane))
                .forEach(lane -> lane.bite(new Bite(victim, began, healed, bitten.contains(lane))));
    }

    /** The same for locks that a worker was kept in: one that it no longer held at that moment was not bitten. */
    public void bitten(Pinned pinned, List<Lane> bitten, int victim, long began) {
        bitten(
                bitten.stream()
                        .filter(lane -> lane.wasHeldBy(pinned.victim(), began))
                        .toList(),
                victim,
                began);
    }

    /** Records whether all workers get all locks again in time. */
    public void probe() {
        long healed = System.nanoTime();
        Map<Lane, Map<Integer, Long>> asked = new HashMap<>();
        probe(healed, lane -> {
            if (lane.isForEach()) {
                return crew.members().stream().allMatch(member -> lane.isHadBy(member.number, healed));
            }
            Map<Integer, Long> first = asked.computeIfAbsent(lane, unused -> new HashMap<>());
            return crew.members().stream().anyMatch(member -> lane.isHadBy(member.number, healed))
                    && (!lane.isOurs()
                            || crew.members().stream()
                                    .allMatch(member -> hasAskedTwice(lane, member.number, healed, first)));
        });
    }

    /** Whether a worker whose job another one does has had an answer since. */
    private static boolean hasAskedTwice(Lane lane, int worker, long healed, Map<Integer, Long> first) {
        long asked = lane.lastAsked(worker).orElse(healed);
        if (asked - healed <= 0) {
            return false;
        }
        return asked - first.computeIfAbsent(worker, unused -> asked) > 0 || lane.isHadBy(worker, healed);
    }

    /** Keeps all workers from asking anew, and records whether those who wait get their locks in time. */
    public void probeWaiters(Pinned pinned) {
        crew.stage.bar();
        crew.stage.unpin();
        probe(System.nanoTime(), this::isFree);
        crew.stage.admitAll();
    }

    private void probe(long healed, Predicate<Lane> condition) {
        Predicate<Lane> isDecided = lane -> {
            Duration limit = lane.probes().isEmpty() ? lane.firstLimit() : lane.limit();
            boolean isTooLate = isOver(healed, limit);
            long now = System.nanoTime();
            boolean had = condition.test(lane);
            if (had || isTooLate) {
                lane.probe(new Probe(healed, had ? now : 0, limit.toNanos()));
                return true;
            }
            return false;
        };
        List<Lane> unused = await(lanes(), FOR_EVER, isDecided);
    }

    /** The time in which this process was stopped, as all may have been, does not count. */
    static boolean isOver(long since, Duration limit) {
        return System.nanoTime() - since > limit.toNanos() + STALLS.longestSince(since);
    }

    private boolean isFree(Lane lane) {
        return crew.members().stream()
                .noneMatch(member -> lane.isHeldBy(member.number) || lane.isAskedBy(member.number, Duration.ZERO));
    }

    /** Those for which it comes true within the patience. */
    private List<Lane> await(List<Lane> some, Duration patience, Predicate<Lane> condition) {
        List<Lane> waiting = new ArrayList<>(some);
        boolean unused = Await.until(patience, POLL, () -> {
            waiting.removeIf(condition);
            return waiting.isEmpty();
        });
        return some.stream().filter(lane -> !waiting.contains(lane)).toList();
    }

    private Member member(int worker) {
        return crew.members().stream()
                .filter(member -> member.number == worker)
                .findFirst()
                .orElseThrow();
    }
}
