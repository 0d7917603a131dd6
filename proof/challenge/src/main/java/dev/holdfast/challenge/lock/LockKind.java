package dev.holdfast.challenge.lock;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.testbed.ChunkMatcher;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;

/**
 * A lock to attack.
 *
 * @param id a word for it, as {@code holdfast}
 * @param title what people know it by, with its settings
 * @param role what it is there for
 * @param stores where it runs, by their words
 * @param isInStore whether the store keeps it, and not the {@link Arbiter}
 * @param workloads what it can do, by their words
 * @param lease after what time the store frees a holder that is silent; zero where it never does
 * @param caught for a wrong lock, how it is found out
 * @param opening how a worker comes by it
 */
public record LockKind(
        String id,
        String title,
        Role role,
        Set<String> stores,
        boolean isInStore,
        Set<String> workloads,
        Duration lease,
        Caught caught,
        Opening opening) {
    /** What it is there for. */
    public enum Role {
        /** This library. */
        HOLDFAST,
        /** A library that users would otherwise pick. */
        PEER,
        /** A lock that is wrong on purpose, or by its textbook: a run that does not find that out is worth nothing. */
        WRONG,
        /** A lock that is right: a run that finds something in it is worth nothing. */
        RIGHT
    }

    /**
     * How a wrong lock is found out.
     *
     * @param fault under which fault, by its word
     * @param checks by which checks, by their words
     * @param request what follows the name of the lock in its claim, where other requests name it too
     */
    public record Caught(String fault, List<String> checks, String request) {
        static final Caught NEVER = new Caught("", List.of(), "");
    }

    /**
     * Where a lock is.
     *
     * @param url its store, as users of Holdfast write it
     * @param name its name there
     * @param workload what is done with it
     * @param arbiter the port of the {@link Arbiter}
     * @param isAlone whether it needs clients of its own, not those of its process
     * @param clients those of the worker, who closes them
     */
    public record Place(String url, String name, String workload, int arbiter, boolean isAlone, Clients clients) {
        /** The client with that key; connected for the first who asks. */
        <C> C client(Class<C> type, String key, Callable<C> connect, Clients.Closing<C> closing) throws Exception {
            return clients.get(type, key + " " + url + (isAlone ? " " + name : ""), connect, closing);
        }
    }

    /** How a worker comes by it. */
    public interface Opening {
        /** Connects a client of its own. */
        AttackedLock open(Place place) throws Exception;
    }

    /**
     * The request by which it asks for what has that name, or frees it. Spring Integration has the UUID of a name in its
     * place.
     */
    public ChunkMatcher requestFor(String name) {
        ChunkMatcher plain = ChunkMatcher.containing(name + caught.request());
        ChunkMatcher hashed = ChunkMatcher.containing(
                UUID.nameUUIDFromBytes(name.getBytes(UTF_8)).toString());
        return chunk -> plain.matches(chunk) || hashed.matches(chunk);
    }

    /** Whether it must be found out under this fault. */
    public boolean isCaughtUnder(String fault) {
        return caught.fault().equals(fault);
    }

    /** Whether what is found in it says something about the run, not about the lock. */
    public boolean isControl() {
        return role == Role.WRONG || role == Role.RIGHT;
    }
}
