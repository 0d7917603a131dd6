package dev.holdfast.ladder.memcached;

/** Both in one command. Work that takes longer than the lease deletes the item of the next holder. */
public final class AddWithLease extends MemcachedRung {
    /** A client of the servers at HOST:PORT, between commas. */
    public AddWithLease(String servers) {
        super(servers);
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
            delete(name);
        }
        return true;
        // end
    }
}
