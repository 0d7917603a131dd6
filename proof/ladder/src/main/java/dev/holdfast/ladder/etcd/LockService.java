package dev.holdfast.ladder.etcd;

import io.etcd.jetcd.ByteSequence;

/**
 * etcd's own lock service: each client has a key of its own behind the name, which the service waits for and unlocks. A
 * waiter whose lease has ended meanwhile is granted the lock all the same, without a key.
 */
public final class LockService extends EtcdRung {
    /** A client of the servers at HOST:PORT, between commas. */
    public LockService(String servers) {
        super(servers);
    }

    @Override
    public boolean run(String name, Work work) {
        // snippet ladderLockService
        ByteSequence mine =
                answer(etcd.getLockClient().lock(key(name), lease())).getKey();
        try {
            work.run(NO_TOKEN);
        } finally {
            Object unused = answer(etcd.getLockClient().unlock(mine));
        }
        return true;
        // end
    }
}
