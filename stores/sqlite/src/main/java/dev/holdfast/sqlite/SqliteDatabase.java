package dev.holdfast.sqlite;

import dev.holdfast.Capabilities;
import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.TimeSource;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * The file with the locks: how it is opened, what a store on it can do, which clock counts. A test may replace what it
 * opens. Thread-safe; what it opens is for one thread.
 */
class SqliteDatabase {
    /** Large enough to spread the cost of a commit, small enough to block others for less than a millisecond. */
    private static final int CHUNK = 256;

    private static final long FIRST_PAUSE = Duration.ofMillis(20).toNanos();

    private static final Capabilities CAPABILITIES = Capabilities.least()
            .fair(true)
            .ordered(true)
            .extendable(true)
            .records(true)
            .wanted(true)
            .caveats(
                    "The processes of one machine share it, on a local file system; it is no lock between machines.",
                    "A process that is stopped inside a statement blocks the others until it continues or ends.",
                    "Who lets its turn go by for 200 ms, a process that is stopped, loses its place in the queue.",
                    "After a power cut the latest grants may be forgotten; tokens then rise as long as the wall clock was"
                            + " not set back.");

    private final SqliteFile file;
    private final BootClock machine;
    private final SqliteClock clock;

    SqliteDatabase(Path path, BootClock machine, TimeSource time) {
        this.file = SqliteFile.prepare(path);
        this.machine = machine;
        this.clock = new SqliteClock(time, machine.nanoTime());
    }

    /** A short name for messages. */
    String description() {
        return SqliteFile.description(file.path());
    }

    Capabilities capabilities() {
        return CAPABILITIES;
    }

    /**
     * Opens a connection, and creates or checks the layout. May block; leaves nothing open when it fails.
     *
     * @param busyTimeout how long a statement may wait for the file
     */
    SqliteLocks open(BusyTimeout busyTimeout) {
        for (int tries = 0; ; tries++) {
            SqliteSession session = SqliteSession.open(file, file.isNew(), busyTimeout);
            boolean ready = false;
            try {
                if (new SqliteLayout(session, file, machine).prepare(clock)) {
                    file.opened();
                    ready = true;
                    return new SqliteLockTable(session, clock);
                }
            } finally {
                if (!ready) {
                    session.close();
                }
            }
            freeAfterReboot(busyTimeout, tries);
        }
    }

    /**
     * Frees all locks if nobody has the file open. No process survives a reboot, so another boot id is none while another
     * process has it open: a container may show an id of its own.
     *
     * <p>Others that open it after a true reboot have it open for a moment, until they see the same. Many may start at once,
     * on a machine that is busy: each pauses at random, the longer the more often it has tried.
     */
    private void freeAfterReboot(BusyTimeout busyTimeout, int tries) {
        try (SqliteSession alone = SqliteSession.openAlone(file, new BusyTimeout(Duration.ZERO))) {
            new SqliteLayout(alone, file, machine).freeAll(clock);
        } catch (StoreUnavailableException e) {
            if (!isPassing(e)) {
                throw e;
            }
            if (tries == 0) {
                busyTimeout.restart(System.nanoTime()); // loading the driver may have taken longer than that
            }
            if (busyTimeout.isOver()) {
                throw new StoreRefusedException(
                        "cannot use " + description()
                                + ": another process has it open, and its locks are of another boot"
                                + " id than this process sees, so they are not freed; let all processes see the boot id of"
                                + " the machine (LXC, Incus and systemd-nspawn show each container another), or use a"
                                + " database server",
                        e);
            }
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(FIRST_PAUSE << Math.min(tries, 6)));
        }
    }

    /** The clock that times grants and turns: that of the machine. */
    long nanoTime() {
        return machine.nanoTime().getAsLong();
    }

    /** How many grants, or places in queues, one statement may carry. */
    int chunk() {
        return CHUNK;
    }

    /** Opens the connection on which waiting claims notice changes. May block. */
    ChangePoller watch(BusyTimeout busyTimeout) {
        return new ChangePoller(SqliteSession.open(file, false, busyTimeout), clock);
    }

    /** Whether a failure is temporary, so that a waiting claim survives it. */
    boolean isPassing(HoldfastException failure) {
        return failure.getCause() != null && SqliteErrors.isBusy(failure.getCause());
    }
}
