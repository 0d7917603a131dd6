package dev.holdfast.jdbc;

import dev.holdfast.Capabilities;
import dev.holdfast.HoldfastException;
import dev.holdfast.spi.TimeSource;
import java.nio.file.Path;

/** SQLite: a file of this machine, shared by its processes. */
final class SqliteDialect implements Dialect {
    /** Large enough to spread the cost of a commit, small enough to block others for less than a millisecond. */
    private static final int CHUNK = 256;

    private static final Capabilities CAPABILITIES = Capabilities.least()
            .fair(true)
            .ordered(true)
            .extendable(true)
            .records(true)
            .caveats(
                    "The processes of one machine share it, on a local file system; it is no lock between machines.",
                    "A process that is stopped inside a statement blocks the others until it goes on or ends.",
                    "Who lets its turn go by for 200 ms, a process that is stopped, loses its place in the queue.",
                    "After a power cut the latest grants may be forgotten; tokens then rise as long as the wall clock was"
                            + " not set back.");

    private final SqliteFile file;
    private final BootClock machine;
    private final SqliteClock clock;

    SqliteDialect(Path path, BootClock machine, TimeSource time) {
        this.file = SqliteFile.prepare(path);
        this.machine = machine;
        this.clock = new SqliteClock(time, machine.nanoTime());
    }

    @Override
    public String description() {
        return "sqlite:" + file.path();
    }

    @Override
    public Capabilities capabilities() {
        return CAPABILITIES;
    }

    @Override
    public SqliteLocks open(BusyTimeout patience) {
        SqliteSession session = SqliteSession.open(file, file.isNew(), patience);
        boolean ready = false;
        try {
            file.opened();
            new SqliteLayout(session, file, machine).prepare(clock);
            ready = true;
            return new SqliteLockTable(session, clock);
        } finally {
            if (!ready) {
                session.close();
            }
        }
    }

    @Override
    public long nanoTime() {
        return machine.nanoTime().getAsLong();
    }

    @Override
    public int chunk() {
        return CHUNK;
    }

    @Override
    public ChangeSource watch(BusyTimeout patience) {
        return new ChangePoller(SqliteSession.open(file, false, patience), clock);
    }

    @Override
    public boolean isPassing(HoldfastException failure) {
        return failure.getCause() != null && SqliteErrors.isBusy(failure.getCause());
    }
}
