package dev.holdfast.ladder.memcached;

/** Both in one command. Work that takes longer than the lease deletes the item of the next holder. */
public final class AddWithLease extends MemcachedRung {
    /** A client of the server at HOST:PORT. */
    public AddWithLease(String server) {
        super(server);
    }

    @Override
    public boolean run(String name, Work work) {
        // snippet ladderAddWithLease
        if (!add(name, LEASE_SECONDS, "locked")) {
            return false;
        }
        try {
            work.run(NO_TOKEN);
        } finally {
            delete(name); // compares nothing
        }
        return true;
        // end
    }
}
