package dev.holdfast.ladder.sql;

import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * The row has an end, a heartbeat moves it, and a job of everybody's removes rows whose end is over. A process that is
 * stopped goes on beside the next one.
 */
public final class Heartbeat extends SqlRung {
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "heartbeat");
        thread.setDaemon(true);
        return thread;
    });

    /** A client of the database at the URL. */
    public Heartbeat(String url) {
        super(url);
    }

    @Override
    public boolean run(String name, Work work) {
        // snippet ladderHeartbeat
        cleanUp();
        if (change("INSERT INTO leased (name, beat) VALUES (?, CURRENT_TIMESTAMP(6))", name) == 0) {
            return false;
        }
        Future<?> beating = timer.scheduleAtFixedRate(
                () -> change("UPDATE leased SET beat = CURRENT_TIMESTAMP(6) WHERE name = ?", name),
                LEASE_SECONDS * 1000 / 3,
                LEASE_SECONDS * 1000 / 3,
                TimeUnit.MILLISECONDS);
        try {
            work.run(NO_TOKEN);
        } finally {
            beating.cancel(false);
            change("DELETE FROM leased WHERE name = ?", name);
        }
        return true;
        // end
    }

    private void cleanUp() {
        change("DELETE FROM leased WHERE beat < CURRENT_TIMESTAMP(6) - INTERVAL '" + LEASE_SECONDS + "' SECOND");
    }

    @Override
    public void close() {
        timer.shutdownNow();
        super.close();
    }
}
