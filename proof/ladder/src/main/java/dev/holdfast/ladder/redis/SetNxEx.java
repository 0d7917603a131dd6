package dev.holdfast.ladder.redis;

import io.lettuce.core.SetArgs;

/** Both in one command. Work that takes longer than the lease deletes the key of the next holder. */
public final class SetNxEx extends RedisRung {
    /** A client of the server at the URL. */
    public SetNxEx(String url) {
        super(url);
    }

    @Override
    public boolean run(String name, Work work) {
        // snippet ladderSetNxEx
        if (redis.set(name, "locked", SetArgs.Builder.nx().ex(LEASE_SECONDS)) == null) {
            return false;
        }
        try {
            work.run(NO_TOKEN);
        } finally {
            redis.del(name);
        }
        return true;
        // end
    }
}
