package dev.holdfast.bench.writes;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.server.Database;
import dev.holdfast.bench.server.Server;
import dev.holdfast.bench.server.Servers;
import java.util.Map;
import java.util.Objects;

/** A file has no server: what counts are the calls by which this JVM writes it ({@link FileCalls}). */
final class SqliteCounters implements Counters {
    private final FileCalls calls = FileCalls.ofThisJvm();
    private final Server file = Servers.start(StoreKind.SQLITE);
    private final Database control = new Database("jdbc:" + file.url() + ".control");

    SqliteCounters() {
        control.execute("pragma journal_mode=wal");
        control.execute("pragma synchronous=full"); // a commit is a forced write
        control.execute("pragma wal_autocheckpoint=100"); // the log is written back soon
        control.execute("create table control (text text)");
    }

    @Override
    public String url() {
        return file.url();
    }

    @Override
    public String settings() {
        return file.settings() + "; the control has synchronous=full";
    }

    @Override
    public Map<String, Double> counted() {
        return calls.counted();
    }

    /** The control's file is beside that of the locks. */
    @Override
    public Map<String, Double> kept() {
        return Map.of("bytes of files", Objects.requireNonNull(file.residue().get("bytes")));
    }

    @Override
    public void write(int bytes) {
        control.execute("insert into control values (?)", "x".repeat(bytes));
    }

    @Override
    public void close() {
        control.close();
        file.close();
    }
}
