package dev.holdfast.ladder.redis;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * A thread renews the lease while the work goes on. It stops with the process, and goes on when the lock is gone: the
 * work is not alone any more, is not told, and nobody who is written to can tell.
 */
public final class Watchdog extends RedisRung {
    private static final String RENEW_MINE = "if redis.call('GET', KEYS[1]) == ARGV[1] then"
            + " return redis.call('EXPIRE', KEYS[1], ARGV[2]) end return 0";

    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

    /** A client of the server at the URL. */
    public Watchdog(String url) {
        super(url);
    }

    @Override
    public boolean run(String name, Work work) {
        // snippet ladderWatchdog
        String mine = UUID.randomUUID().toString();
        if (redis.set(name, mine, SetArgs.Builder.nx().ex(LEASE_SECONDS)) == null) {
            return false;
        }
        Future<?> renewal = timer.scheduleAtFixedRate(
                () -> renew(name, mine), LEASE_SECONDS * 1000 / 3, LEASE_SECONDS * 1000 / 3, TimeUnit.MILLISECONDS);
        try {
            work.run(NO_TOKEN);
        } finally {
            renewal.cancel(false);
            redis.eval(LuaDelete.DELETE_MINE, ScriptOutputType.INTEGER, new String[] {name}, mine);
        }
        return true;
        // end
    }

    private void renew(String name, String mine) {
        redis.eval(RENEW_MINE, ScriptOutputType.INTEGER, new String[] {name}, mine, Long.toString(LEASE_SECONDS));
    }

    @Override
    public void close() {
        timer.shutdownNow();
        super.close();
    }
}
