package dev.holdfast.tck.fuzz;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Mode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Who and what there is in one history: clients, locks, claims, requests on their way. For one thread. */
final class World {
    final StoreFuzz target;
    final Script script;
    final Script.Trouble trouble;
    final FuzzStats stats;
    final Inbox inbox = new Inbox();
    final Map<Integer, NameModel> names = new LinkedHashMap<>();
    final Map<Integer, Claimed> claimed = new LinkedHashMap<>();
    final List<String> log = new ArrayList<>();
    /** What came of each request that changes something. */
    final Map<Integer, String> outcomes = new HashMap<>();

    final String prefix;
    /** When the server failed last. */
    long serverFailedAt = Long.MIN_VALUE;
    /** Whether the server's clock was set back: a lock whose counter is gone then takes a lower number. */
    boolean clockSetBack;
    /** When a release was refused last: its client may clear up behind it after the answer. */
    long refusedAt = Long.MIN_VALUE;
    /** Whether a client left: what it leaves behind changes what is stored later. */
    boolean someoneLeft;

    private final @Nullable FuzzClient[] clients;
    private final List<Asked> asked = new ArrayList<>();
    private final long begun = System.nanoTime();
    private int calls;

    /** A request on its way. */
    static final class Asked {
        final FuzzClient owner;
        final boolean waits;
        final long sent = System.nanoTime();
        boolean done;

        Asked(FuzzClient owner, boolean waits) {
            this.owner = owner;
            this.waits = waits;
        }
    }

    World(StoreFuzz target, Script script, FuzzStats stats, @Nullable FuzzClient[] clients, String prefix) {
        this.target = target;
        this.script = script;
        this.stats = stats;
        this.clients = clients;
        this.prefix = prefix;
        this.trouble = script.trouble();
    }

    // ---- clients ----

    FuzzClient client(int number) throws Exception {
        FuzzClient known = clients[number];
        for (int tries = 1; known == null; tries++) {
            try {
                known = new FuzzClient(target, number);
                clients[number] = known;
            } catch (StoreUnavailableException e) {
                if (tries == 5) {
                    throw e; // the machine is not that slow
                }
            }
        }
        return known;
    }

    /** The client, if it is there already. */
    @Nullable
    FuzzClient present(int number) {
        return clients[number];
    }

    void openAll() throws Exception {
        for (int i = 0; i < clients.length; i++) {
            client(i);
        }
    }

    /** It is no more: its requests are answered to nobody. */
    void remove(int number) {
        FuzzClient gone = clients[number];
        clients[number] = null;
        asked.stream().filter(each -> each.owner == gone).forEach(each -> each.done = true);
    }

    Stream<FuzzClient> clients() {
        return Stream.of(clients).filter(Objects::nonNull);
    }

    boolean isAlive(FuzzClient client) {
        return clients().anyMatch(each -> each == client);
    }

    // ---- locks and claims ----

    NameModel model(int name) {
        boolean sessions = target.isSessionBound();
        long lingers = sessions ? target.passesTheDead().toNanos() : 0;
        return names.computeIfAbsent(
                name,
                absent -> new NameModel(
                        target.isExtendable(),
                        !sessions && !target.exclusiveOnly(),
                        lingers,
                        !target.repeatsKeepNumbers()));
    }

    NameModel modelOf(Call call) {
        return model(call.name);
    }

    String text(int name) {
        return prefix + name;
    }

    Stream<Claimed> all() {
        return List.copyOf(claimed.values()).stream();
    }

    Stream<Claimed> all(int name) {
        return all().filter(each -> each.name == name);
    }

    boolean waits(Claimed claim) {
        return claim.pending != null
                && model(claim.name).open.containsKey(claim.call.id)
                && !claim.call.isLost()
                && isAlive(claim.owner);
    }

    boolean holds(Claimed claim) {
        return claim.grant != null && !claim.ended && isAlive(claim.owner);
    }

    /** A request for a new claim, or by an old one; a lease of 0 if it begins none. */
    Call call(int name, Call.Kind kind, int claim, Mode mode, long lease) {
        model(name);
        boolean session = target.isSessionBound() && lease > 0;
        long least = session
                ? trouble == Script.Trouble.NONE ? Call.NEVER : target.session().toNanos()
                : lease;
        Call call = new Call(calls++, name, kind, claim, mode, least, session, System.nanoTime());
        call.late = target.staysAfterItsLease().toNanos();
        return call;
    }

    Call call(Claimed mine, Call.Kind kind, long lease) {
        return call(mine.name, kind, mine.label, mine.claim.mode(), lease);
    }

    // ---- requests on their way ----

    Asked asking(FuzzClient owner, boolean waits) {
        Asked request = new Asked(owner, waits);
        asked.add(request);
        return request;
    }

    boolean hasAsked(FuzzClient client, long since) {
        return asked.stream().anyMatch(each -> each.owner == client && each.sent >= since);
    }

    boolean isAsking(FuzzClient client, long since) {
        return asked.stream().anyMatch(each -> each.owner == client && each.sent >= since && !each.done);
    }

    /** Requests without an answer, but for those that wait for a lock. */
    long inFlight() {
        return asked.stream().filter(each -> !each.done && !each.waits).count();
    }

    void awaitAnswers(String what) {
        inbox.await(() -> inFlight() == 0, what);
    }

    void log(String line) {
        log.add(String.format("%7.1f ms  %s", (System.nanoTime() - begun) / 1e6, line));
    }
}
