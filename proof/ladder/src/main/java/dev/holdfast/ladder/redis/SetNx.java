package dev.holdfast.ladder.redis;

/** The first idea: who creates the key has the lock. Work that throws leaves it locked for ever. */
@SuppressWarnings("deprecation") // SETNX is: the textbooks are old
public final class SetNx extends RedisRung {
    /** A client of the server at the URL. */
    public SetNx(String url) {
        super(url);
    }

    @Override
    public boolean run(String name, Work work) {
        // snippet ladderSetNx
        if (!redis.setnx(name, "locked")) {
            return false;
        }
        work.run(NO_TOKEN);
        redis.del(name);
        return true;
        // end
    }
}
