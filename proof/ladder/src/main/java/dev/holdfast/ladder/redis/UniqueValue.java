package dev.holdfast.ladder.redis;

import io.lettuce.core.SetArgs;
import java.util.UUID;

/** Only the own key is deleted. Between the look and the deletion it may become another's. */
public final class UniqueValue extends RedisRung {
    /** A client of the server at the URL. */
    public UniqueValue(String url) {
        super(url);
    }

    @Override
    public boolean run(String name, Work work) {
        // snippet ladderUniqueValue
        String mine = UUID.randomUUID().toString();
        if (redis.set(name, mine, SetArgs.Builder.nx().ex(LEASE_SECONDS)) == null) {
            return false;
        }
        try {
            work.run(NO_TOKEN);
        } finally {
            if (mine.equals(redis.get(name))) {
                redis.del(name);
            }
        }
        return true;
        // end
    }
}
