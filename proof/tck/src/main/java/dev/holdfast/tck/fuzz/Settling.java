package dev.holdfast.tck.fuzz;

import dev.holdfast.LockStatus;
import dev.holdfast.tck.fuzz.Op.Verb;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The end of a history: all that live finish what they began, one after the other; then everything must be free. */
final class Settling {
    private static final Duration KEPT = Duration.ofSeconds(20);
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(45);
    /** What a busy machine and a store's poll may take, the poll by a clock that runs at half the rate. */
    private static final long SLACK = TimeUnit.SECONDS.toNanos(3);

    /** In which those who wait enter a queue again that a clock set ahead has emptied. */
    private static final long AGAIN = TimeUnit.SECONDS.toNanos(12);

    private final World world;
    private final Requests requests;

    Settling(World world, Requests requests) {
        this.world = world;
        this.requests = requests;
    }

    void run() throws Exception {
        world.log("settling");
        world.awaitAnswers("the last answers");
        world.all()
                .filter(each -> each.unknown && !each.ended || each.mayStand)
                .forEach(each -> requests.withClaim(op(each, Verb.WITHDRAW), each));
        world.awaitAnswers("the withdrawals");
        for (int name : world.names.keySet()) {
            settle(name);
        }
        for (int name : List.copyOf(world.names.keySet())) {
            claimAll(name);
        }
    }

    private void settle(int name) throws Exception {
        while (true) {
            keepAll();
            List<Claimed> waiting = world.all(name).filter(world::waits).toList();
            List<Claimed> holding = world.all(name).filter(world::holds).toList();
            if (waiting.isEmpty() && holding.isEmpty()) {
                return;
            }
            if (!waiting.isEmpty() && waiting.stream().allMatch(each -> Beliefs.fits(each.claim.mode(), holding))) {
                int before = waiting.size();
                awaitWithin(
                        name,
                        holding,
                        () -> world.all(name).filter(world::waits).count() < before,
                        "the lock to be granted to one of " + labels(waiting) + " beside " + labels(holding));
            } else if (holding.isEmpty()) {
                throw new AssertionError("nobody holds, and somebody does not fit");
            } else {
                requests.release(op(holding.get(0), Verb.RELEASE), holding.get(0));
                world.awaitAnswers("a release");
            }
        }
    }

    private void keepAll() {
        world.clients().forEach(owner -> {
            if (world.all().anyMatch(each -> each.owner == owner && world.holds(each))) {
                requests.renew(new Op(0, Verb.RENEW, 0, 0, "-", KEPT.toMillis()), owner, KEPT);
            }
        });
        world.awaitAnswers("renewals");
    }

    /** Nobody is left: a newcomer gets the whole lock, and after that nothing is there. */
    private void claimAll(int name) throws Exception {
        AtomicInteger label = new AtomicInteger(10_000 + name);
        awaitWithin(
                name,
                List.of(),
                () -> {
                    requests.claim(new Op(0, Verb.TRY, name, label.get(), "X", KEPT.toMillis()));
                    world.awaitAnswers("the last claim");
                    Claimed asked = world.claimed.get(label.get());
                    if (asked.unknown) { // it may hold: the next is another
                        requests.withdraw(op(asked, Verb.WITHDRAW), asked);
                        world.awaitAnswers("a withdrawal");
                        label.addAndGet(100);
                    }
                    return world.holds(asked);
                },
                "the whole lock for a newcomer");
        world.log("all of " + name + " is claimed");
        Claimed last = world.claimed.get(label.get());
        requests.release(op(last, Verb.RELEASE), last);
        world.awaitAnswers("the last release");
        long end = System.nanoTime() + world.target.passesTheDead().toNanos() + SLACK;
        while (true) {
            CompletionStage<LockStatus> asked = world.client(0).store.status(world.text(name));
            LockStatus status = asked.toCompletableFuture().get(PATIENCE, TimeUnit.NANOSECONDS);
            if (!status.isHeld() && status.waiting() == 0) {
                return;
            }
            if (System.nanoTime() > end) {
                throw new Violation("everything was given back, and there is " + status);
            }
            world.inbox.pass(20);
        }
    }

    private void awaitWithin(int name, List<Claimed> holding, Callable<Boolean> condition, String what)
            throws Exception {
        List<Integer> known = labels(holding);
        long dead = Math.max(0, world.model(name).latestEnd(known::contains) - System.nanoTime());
        long enter = world.trouble == Script.Trouble.CLOCK ? AGAIN : 0;
        long most = dead + world.target.passesTheDead().toNanos() + enter + SLACK;
        long end = System.nanoTime() + most;
        long keep = System.nanoTime() + KEPT.toNanos() / 3;
        while (!condition.call()) {
            world.inbox.drain();
            if (System.nanoTime() > end) {
                throw new Violation("no progress within " + most / 1_000_000 + " ms: " + what);
            }
            if (System.nanoTime() > keep) {
                keepAll();
                keep = System.nanoTime() + KEPT.toNanos() / 3;
            }
            world.inbox.pass(5);
        }
    }

    private static List<Integer> labels(List<Claimed> all) {
        return all.stream().map(each -> each.label).toList();
    }

    private static Op op(Claimed mine, Verb verb) {
        return new Op(0, verb, mine.name, mine.label, "-", 0);
    }
}
