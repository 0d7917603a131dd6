package dev.holdfast.tck.fuzz;

import dev.holdfast.LockStatus;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Status and list: what they show must have been so at some moment since they were asked. */
final class Looks {
    private static final long TOLERANCE = TimeUnit.MILLISECONDS.toNanos(3);

    /** A server that stands still in the middle of a request may count a lease from the end of that pause: it is longer then. */
    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(100);

    private static final long TOKENS_PER_NUMBER = 1024;

    private final World world;
    private final Answers answers;

    Looks(World world, Answers answers) {
        this.world = world;
        this.answers = answers;
    }

    void status(Op op, FuzzClient client) {
        Look look = new Look(op.name());
        answers.ask(
                op,
                client,
                List.of(),
                () -> client.store.status(world.text(op.name())),
                (seen, at) -> look.judge(seen, at));
    }

    void list(Op op, FuzzClient client) {
        Map<Integer, Look> looks = new HashMap<>();
        world.names.keySet().forEach(name -> looks.put(name, new Look(name)));
        answers.ask(op, client, List.of(), () -> client.store.list(world.prefix), (all, at) -> {
            Map<String, LockStatus> seen = new HashMap<>();
            all.forEach(each -> seen.put(each.name(), each));
            looks.forEach((name, look) -> {
                LockStatus known = seen.remove(world.text(name));
                look.judge(known == null ? LockStatus.free(world.text(name), 0) : known, at);
            });
            world.names.keySet().forEach(name -> seen.remove(world.text(name)));
            if (!seen.isEmpty()) {
                throw new Violation("listed, and never claimed: " + seen.keySet());
            }
        });
    }

    /** A look at one lock that is under way. */
    private final class Look {
        private final NameModel model;
        private final NameModel.Look look;
        private final long sent = System.nanoTime();

        Look(int name) {
            model = world.model(name);
            look = model.look();
        }

        void judge(LockStatus seen, long at) {
            model.seen(
                    look,
                    at,
                    state -> model.shows(state, seen, held -> told(seen.grant().orElseThrow(), held, sent, at), look),
                    "saw " + seen);
        }
    }

    private boolean told(LockStatus.Held told, Held held, long sent, long at) {
        Claimed mine = world.claimed.get(held.claim());
        long left = told.leaseLeft().toNanos();
        boolean timely = world.target.isSessionBound()
                || !world.target.tellsLeaseLeft()
                || ((held.to() == Call.NEVER || left <= held.to() - sent + PAUSE)
                        && (held.from() == 0 || left >= held.from() - at - TOLERANCE));
        return told.mode() == held.mode().kind()
                && told.holder().label().equals("c" + held.claim())
                && (mine == null || isNumberOf(mine, told.token() / TOKENS_PER_NUMBER, sent))
                && timely;
    }

    /** The number that it had at some moment since the look began, or is about to get. */
    private boolean isNumberOf(Claimed mine, long number, long sent) {
        return mine.grant == null
                || mine.hadNumber(number, sent)
                || !world.target.repeatsKeepNumbers()
                        && mine.wasGrantedAfter(sent) // it was written again until it counted
                || world.model(mine.name).open.values().stream()
                        .anyMatch(call -> call.claim == mine.label && call.mayRenumber() && number > mine.number());
    }
}
