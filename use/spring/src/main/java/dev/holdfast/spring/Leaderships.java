package dev.holdfast.spring;

import dev.holdfast.Candidacy;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.Term;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;

/**
 * The elections for which this application stands, from its start until its end. It begins before web server and
 * schedulers do, because phases that end late begin early; it ends when these have drained and the calls in progress have
 * ended: a term that ended earlier would let another server lead beside work that still runs.
 */
final class Leaderships implements SmartLifecycle {
    /** After {@link CallsInProgress}, directly before the lock clients close. */
    private static final int PHASE = 2;

    /** The election of which the present thread runs a listener. */
    private static final ThreadLocal<@Nullable Candidate> REPORTED = new ThreadLocal<>();

    private final LockClients clients;
    private final Supplier<Collection<Election>> elections;
    private final ApplicationEventPublisher events;
    private final Map<Candidate, Candidacy> candidacies = new ConcurrentHashMap<>();

    private volatile boolean running;

    Leaderships(LockClients clients, Supplier<Collection<Election>> elections, ApplicationEventPublisher events) {
        this.clients = clients;
        this.elections = elections;
        this.events = events;
    }

    /**
     * The present term; empty while this application does not surely lead. An election that was not known at the start,
     * since its bean was made later, is stood for from now on.
     */
    Optional<Term> term(Election election) {
        Candidate candidate = new Candidate(client(election), election.name());
        Candidacy candidacy = candidacies.get(candidate);
        if (candidacy == null && running) {
            candidacy = candidacies.computeIfAbsent(candidate, first -> stand(first, election));
            if (!running) { // stopped meanwhile, and perhaps past this one
                Candidacy late = candidacies.remove(candidate);
                if (late != null) {
                    late.close();
                }
            }
        }
        return Optional.ofNullable(candidacy).flatMap(Candidacy::term);
    }

    /** Where the lock of an election is kept. */
    LockClient client(Election election) {
        return clients.client(election.client());
    }

    @Override
    public void start() {
        running = true;
        Set<Election> all = new LinkedHashSet<>(elections.get());
        all.forEach(this::term);
    }

    private Candidacy stand(Candidate candidate, Election election) {
        HoldOptions options = clients.options(election.client()).reentrant(false);
        return client(election)
                .election(election.name(), options)
                .stand(
                        term -> publish(candidate, new LeaderElected(election.name(), term)),
                        term -> publish(candidate, new LeaderRevoked(election.name(), term)));
    }

    private void publish(Candidate candidate, Object event) {
        REPORTED.set(candidate);
        try {
            events.publishEvent(event);
        } finally {
            REPORTED.remove();
        }
    }

    /** Ends all candidacies together: each waits for its own listener, but not for one that has called this. */
    @Override
    public void stop() {
        running = false;
        Candidate caller = REPORTED.get();
        Candidacy own = caller == null ? null : candidacies.remove(caller);
        if (own != null) {
            own.close();
        }
        // Each is taken out by the one that closes it: one that a call adds meanwhile is closed by that call.
        List<Thread> ends = candidacies.keySet().stream()
                .flatMap(candidate -> Optional.ofNullable(candidacies.remove(candidate)).stream())
                .map(candidacy -> new Thread(candidacy::close, "holdfast-candidacy-end"))
                .toList();
        ends.forEach(Thread::start);
        ends.forEach(Leaderships::join);
    }

    private static void join(Thread end) {
        try {
            end.join();
        } catch (InterruptedException hurry) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    /**
     * An election.
     *
     * @param name of its lock
     * @param client the name of the client
     */
    record Election(String name, String client) {}

    /**
     * An election at a client: the same for an annotation that names the client and one that does not.
     *
     * @param client where its lock is kept
     * @param name of its lock
     */
    private record Candidate(LockClient client, String name) {}
}
