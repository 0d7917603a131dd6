package dev.holdfast.jdbc;

import dev.holdfast.spi.TimeSource;
import dev.holdfast.tck.KitTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Stores of session locks, opened without a client; all are closed with the rig. */
final class SessionRig implements AutoCloseable {
    private final KitTime time = new KitTime();
    private final ScarceThreads threads = new ScarceThreads();
    private final List<SessionStore> stores = new ArrayList<>();

    SessionStore store(String url) {
        return store(new Meddling(url), url, SessionStore.SESSION);
    }

    SessionStore store(String url, Duration session) {
        return store(new Meddling(url), url, session);
    }

    /** On connections with which a test meddles. */
    SessionStore store(Connections connections, String url, Duration session) {
        return store(opener(connections, url, session));
    }

    /** By a time that may fail. */
    SessionStore store(TimeSource faulty, String url) {
        return store(opener(new Meddling(url), url, SessionStore.SESSION, faulty));
    }

    private SessionStore store(SessionOpener opener) {
        SessionStore store = SessionStore.open(opener);
        stores.add(store);
        return store;
    }

    SessionOpener opener(Connections connections, String url, Duration session) {
        return opener(connections, url, session, time);
    }

    private SessionOpener opener(Connections connections, String url, Duration session, TimeSource by) {
        ServerUrl parsed = ServerUrl.parse(url).orElseThrow();
        return new SessionOpener(
                parsed.dialect(), parsed.options(), connections, parsed.description(), by, threads, session);
    }

    /** Those of all stores. */
    ScarceThreads threads() {
        return threads;
    }

    @Override
    public void close() {
        stores.forEach(SessionStore::close);
        time.close();
    }
}
