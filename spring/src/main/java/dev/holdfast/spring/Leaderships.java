package dev.holdfast.spring;

import dev.holdfast.Candidacy;
import dev.holdfast.HoldOptions;
import dev.holdfast.Term;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;

/**
 * The elections for which this application stands, from the moment when everything else has started until web server and
 * schedulers have drained.
 */
final class Leaderships implements SmartLifecycle {
    /** Later at the end than the web server and the schedulers; far earlier than the clients close. */
    private static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 4096;

    private final LockClients clients;
    private final Supplier<Collection<Election>> elections;
    private final ApplicationEventPublisher events;
    private final Map<Election, Candidacy> candidacies = new ConcurrentHashMap<>();
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
        if (running) {
            candidacies.computeIfAbsent(election, this::stand);
        }
        return Optional.ofNullable(candidacies.get(election)).flatMap(Candidacy::term);
    }

    @Override
    public void start() {
        running = true;
        Set<Election> all = new LinkedHashSet<>(elections.get());
        all.forEach(this::term);
    }

    private Candidacy stand(Election election) {
        HoldOptions options = clients.options(election.client()).reentrant(false);
        return clients.client(election.client())
                .election(election.name(), options)
                .stand(
                        term -> events.publishEvent(new LeaderElected(election.name(), term)),
                        term -> events.publishEvent(new LeaderRevoked(election.name(), term)));
    }

    @Override
    public void stop() {
        running = false;
        candidacies.values().forEach(Candidacy::close);
        candidacies.clear();
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
}
