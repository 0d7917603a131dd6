package dev.holdfast.tck;

import dev.holdfast.LockStatus;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Mode.Permits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The locks of {@link ToyStore}: every mode, several names in a claim, grants bound to sessions, and a queue without any
 * order. Written for plainness alone.
 */
final class ToyLocks {
    /** How long a session lives on after its client's last word; a busy machine must be in time to renew it. */
    static final Duration SESSION = Duration.ofSeconds(1);

    private final ReentrantLock mutex = new ReentrantLock();
    private final List<Holding> holdings = new ArrayList<>();
    private final Map<ClaimId, Claim> waiting = new LinkedHashMap<>();
    private long lastNumber;

    private static final class Holding {
        final Claim claim;
        final Object session;
        final long number;
        final long since = System.nanoTime();
        long endsAt = Long.MAX_VALUE;
        boolean broken;

        Holding(Claim claim, Object session, long number) {
            this.claim = claim;
            this.session = session;
            this.number = number;
        }
    }

    /** Grants a claim or, if it waits, counts it among the waiters. */
    Optional<Grant> claim(Claim claim, Object session, long sent) {
        return locked(() -> {
            Optional<Holding> mine = find(claim.id());
            boolean free = mine.isPresent() || fits(claim.mode(), claim.name());
            if (!free) {
                if (claim.waits()) {
                    waiting.put(claim.id(), claim);
                }
                return Optional.empty();
            }
            waiting.remove(claim.id());
            Holding held = mine.orElseGet(() -> {
                lastNumber = Math.max(lastNumber, claim.floor()) + 1;
                Holding made = new Holding(claim, session, lastNumber);
                holdings.add(made);
                return made;
            });
            return Optional.of(new Grant(claim.id(), claim.name(), claim.mode(), SESSION, held.number, sent));
        });
    }

    boolean isHeldBy(ClaimId id) {
        return locked(() -> find(id).isPresent());
    }

    boolean isWanted(String name) {
        return locked(
                () -> waiting.values().stream().anyMatch(claim -> claim.name().equals(name)));
    }

    boolean release(ClaimId id) {
        return locked(() -> find(id).map(holdings::remove).orElse(false));
    }

    void stopWaiting(ClaimId id) {
        locked(() -> waiting.remove(id));
    }

    boolean breakGrant(String name, long number, boolean now) {
        return locked(() -> {
            List<Holding> broken = holdings.stream()
                    .filter(on(name))
                    .filter(holding -> holding.number == number)
                    .toList();
            for (Holding holding : broken) {
                holding.broken = true;
                holding.endsAt = System.nanoTime() + (now ? 0 : SESSION.toNanos());
            }
            return !broken.isEmpty();
        });
    }

    /** The session says nothing more: what it holds ends a while later. */
    void leave(Object session) {
        locked(() -> {
            holdings.stream()
                    .filter(holding -> holding.session == session)
                    .forEach(holding -> holding.endsAt = System.nanoTime() + SESSION.toNanos());
            return true;
        });
    }

    LockStatus status(String name) {
        return locked(() -> new LockStatus(
                name, holdings.stream().filter(on(name)).findFirst().map(ToyLocks::described), (int)
                        waiting.values().stream()
                                .filter(claim -> claim.name().equals(name))
                                .count()));
    }

    List<LockStatus> list(String prefix) {
        return locked(() -> {
            Set<String> names = new TreeSet<>();
            holdings.forEach(holding -> names.add(holding.claim.name()));
            waiting.values().forEach(claim -> names.add(claim.name()));
            return names.stream()
                    .filter(name -> name.startsWith(prefix))
                    .map(this::status)
                    .toList();
        });
    }

    private static LockStatus.Held described(Holding holding) {
        Duration held = Duration.ofNanos(System.nanoTime() - holding.since);
        Claim claim = holding.claim;
        return new LockStatus.Held(claim.mode().kind(), holding.number * 1024, claim.holder(), held, SESSION);
    }

    private boolean fits(Mode mode, String name) {
        List<Mode> others = holdings.stream()
                .filter(on(name))
                .map(holding -> holding.claim.mode())
                .toList();
        if (mode instanceof Permits wanted) {
            int out = others.stream()
                    .mapToInt(other -> other instanceof Permits taken ? taken.permits() : wanted.of())
                    .sum();
            return out + wanted.permits() <= wanted.of();
        }
        return others.isEmpty() || (mode.equals(Mode.SHARED) && others.stream().allMatch(Mode.SHARED::equals));
    }

    private Optional<Holding> find(ClaimId id) {
        return holdings.stream()
                .filter(holding -> holding.claim.id().equals(id) && !holding.broken)
                .findFirst();
    }

    private static Predicate<Holding> on(String name) {
        return holding -> holding.claim.name().equals(name);
    }

    private <T> T locked(Supplier<T> step) {
        mutex.lock();
        try {
            holdings.removeIf(holding -> System.nanoTime() - holding.endsAt >= 0 && holding.endsAt != Long.MAX_VALUE);
            return step.get();
        } finally {
            mutex.unlock();
        }
    }
}
