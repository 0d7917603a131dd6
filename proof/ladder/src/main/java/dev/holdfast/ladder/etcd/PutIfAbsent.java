package dev.holdfast.ladder.etcd;

/** Who makes the key has the lock. A process that is killed leaves it for ever. */
public final class PutIfAbsent extends EtcdRung {
    /** A client of the servers at HOST:PORT, between commas. */
    public PutIfAbsent(String servers) {
        super(servers);
    }

    @Override
    public boolean run(String name, Work work) {
        // snippet ladderPutIfAbsent
        if (!putIfAbsent(name, NO_LEASE)) {
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
