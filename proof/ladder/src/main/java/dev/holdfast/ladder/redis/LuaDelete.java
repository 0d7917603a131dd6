package dev.holdfast.ladder.redis;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import java.util.UUID;

/** The look and the deletion are one step. Work that takes longer than the lease is no longer alone. */
public final class LuaDelete extends RedisRung {
    static final String DELETE_MINE =
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

    /** A client of the server at the URL. */
    public LuaDelete(String url) {
        super(url);
    }

    @Override
    public boolean run(String name, Work work) {
        // snippet ladderLuaDelete
        String mine = UUID.randomUUID().toString();
        if (redis.set(name, mine, SetArgs.Builder.nx().ex(LEASE_SECONDS)) == null) {
            return false;
        }
        try {
            work.run(NO_TOKEN);
        } finally {
            redis.eval(DELETE_MINE, ScriptOutputType.INTEGER, new String[] {name}, mine);
        }
        return true;
        // end
    }
}
