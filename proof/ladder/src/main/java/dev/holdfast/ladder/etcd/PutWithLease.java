package dev.holdfast.ladder.etcd;

/** The key goes with a lease. Work that takes longer than the lease deletes the key of the next holder. */
public final class PutWithLease extends EtcdRung {
    /** A client of the servers at HOST:PORT, between commas. */
    public PutWithLease(String servers) {
        super(servers);
    }

    @Override
    public boolean run(String name, Work work) {
        // snippet ladderPutWithLease
        if (!putIfAbsent(name, lease())) {
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
