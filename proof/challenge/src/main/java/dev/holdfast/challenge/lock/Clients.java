package dev.holdfast.challenge.lock;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * The clients of a worker. Its locks share a client that they ask for by the same key, as the threads of an application
 * do. Thread-safe.
 */
public final class Clients {
    private final Map<String, Open<?>> open = new LinkedHashMap<>();

    /** How a client is closed. */
    public interface Closing<C> {
        /** Closes it. */
        void close(C client) throws Exception;
    }

    private record Open<C>(C client, Closing<C> closing) {
        void close() throws Exception {
            closing.close(client);
        }
    }

    /** The client with that key, which is connected for the first who asks for it. */
    public synchronized <C> C get(Class<C> type, String key, Callable<C> connect, Closing<C> closing) throws Exception {
        Open<?> found = open.get(key);
        if (found == null) {
            found = new Open<>(connect.call(), closing);
            open.put(key, found);
        }
        return type.cast(found.client());
    }

    /** Closes all. One that fails to close is named on standard error; what it leaves behind is for the checks to find. */
    public synchronized void close() {
        open.forEach((key, client) -> {
            try {
                client.close();
            } catch (Exception failed) {
                System.err.println("the client " + key + " cannot be closed: " + failed);
            }
        });
        open.clear();
    }
}
