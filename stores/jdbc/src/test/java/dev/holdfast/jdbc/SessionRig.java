package dev.holdfast.jdbc;

import dev.holdfast.tck.KitTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Stores of session locks, opened without a client; all are closed with the rig. */
final class SessionRig implements AutoCloseable {
    private final KitTime time = new KitTime();
    private final List<SessionStore> stores = new ArrayList<>();

    SessionStore store(String url) {
        return store(new Meddling(url), url, SessionStore.SESSION);
    }

    SessionStore store(String url, Duration session) {
        return store(new Meddling(url), url, session);
    }

    /** On connections with which a test meddles. */
    SessionStore store(Connections connections, String url, Duration session) {
        SessionStore store = SessionStore.open(opener(connections, url, session));
        stores.add(store);
        return store;
    }

    SessionOpener opener(Connections connections, String url, Duration session) {
        ServerUrl parsed = ServerUrl.parse(url).orElseThrow();
        return new SessionOpener(parsed.dialect(), parsed.options(), connections, parsed.description(), time, session);
    }

    @Override
    public void close() {
        stores.forEach(SessionStore::close);
        time.close();
    }
}
