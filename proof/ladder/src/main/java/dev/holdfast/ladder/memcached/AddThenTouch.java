package dev.holdfast.ladder.memcached;

/** The item ends by itself. A process that is killed between the two commands still leaves it for ever. */
public final class AddThenTouch extends MemcachedRung {
    /** A client of the servers at HOST:PORT, between commas. */
    public AddThenTouch(String servers) {
        super(servers);
    }

    @Override
    public boolean run(String name, Work work) {
        // snippet ladderAddThenTouch
        if (!add(name, "locked")) {
            return false;
        }
        touch(name, LEASE_SECONDS);
        try {
            work.run(NO_TOKEN);
        } finally {
            delete(name);
        }
        return true;
        // end
    }
}
