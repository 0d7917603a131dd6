package dev.holdfast.sim;

import dev.holdfast.LockStatus;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Mode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A caller who asks about locks, and breaks one now and then: by the token that is shown at that moment, or an old one. */
final class Onlooker {
    private final Client client;
    private final String name;
    private final World world;
    private @Nullable Long lastToken;

    Onlooker(Client client, String name) {
        this.client = client;
        this.name = name;
        this.world = client.world;
    }

    /** A token that was seen. */
    void remember(long token) {
        lastToken = token;
    }

    void look(String lock) {
        int what = world.dice.below(10);
        try {
            if (what < 4) {
                LockStatus status = client.engine.inspection().status(client.engine.name(lock, Mode.EXCLUSIVE));
                world.counts.add(Happening.STATUS_ASKED);
                world.judge.shown(client, List.of(status), client.returnsBeforeWait());
            } else if (what < 6) {
                List<LockStatus> all = client.engine.inspection().list("*");
                world.counts.add(Happening.LIST_ASKED);
                world.judge.shown(client, all, client.returnsBeforeWait());
            } else {
                breakLock(lock, what >= 8);
            }
        } catch (StoreUnavailableException noAnswer) {
            client.note(() -> name + ": " + noAnswer.getMessage());
        }
    }

    private void breakLock(String lock, boolean now) {
        Long token = world.dice.percent(80) ? client.shown(lock).orElse(null) : lastToken;
        if (token != null) {
            client.note(() -> name + " breaks " + lock + " " + Ids.token(token) + (now ? " at once" : ""));
            boolean done = client.breakLock(lock, token, now);
            world.counts.add(done ? Happening.BREAK_DONE : Happening.BREAK_REFUSED);
        }
    }
}
