package dev.holdfast.ladder.redis;

/** The key ends by itself. A process that is killed between the two commands still leaves it for ever. */
@SuppressWarnings("deprecation") // SETNX is: the textbooks are old
public final class SetNxExpire extends RedisRung {
    /** A client of the server at the URL. */
    public SetNxExpire(String url) {
        super(url);
    }

    @Override
    public boolean run(String name, Work work) {
        // snippet ladderSetNxExpire
        if (!redis.setnx(name, "locked")) {
            return false;
        }
        redis.expire(name, LEASE_SECONDS);
        try {
            work.run(NO_TOKEN);
        } finally {
            redis.del(name);
        }
        return true;
        // end
    }
}
