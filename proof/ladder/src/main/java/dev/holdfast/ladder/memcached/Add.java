package dev.holdfast.ladder.memcached;

/** The first idea: who adds the item has the lock. A process that is killed leaves it for ever. */
public final class Add extends MemcachedRung {
    /** A client of the servers at HOST:PORT, between commas. */
    public Add(String servers) {
        super(servers);
    }

    @Override
    public boolean run(String name, Work work) {
        // snippet ladderAdd
        if (!add(name, "locked")) {
            return false;
        }
        try {
            work.run(NO_TOKEN);
        } finally {
            delete(name);
        }
        return true;
        // end
    }
}
