package dev.holdfast.ladder.redis;

/** The key goes whatever becomes of the work. A process that is killed leaves it for ever. */
@SuppressWarnings("deprecation") // SETNX is: the textbooks are old
public final class SetNxFinally extends RedisRung {
    /** A client of the server at the URL. */
    public SetNxFinally(String url) {
        super(url);
    }

    @Override
    public boolean run(String name, Work work) {
        // snippet ladderSetNxFinally
        if (!redis.setnx(name, "locked")) {
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
