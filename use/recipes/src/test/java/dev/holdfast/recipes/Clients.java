package dev.holdfast.recipes;

import dev.holdfast.LockClient;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Several clients of one Redis server, and threads that use them. */
final class Clients implements AutoCloseable {
    private static final long PATIENCE = 60;

    final RedisServer server = OrSkip.orSkip(() -> RedisServer.start());
    private final List<LockClient> clients = new ArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    Clients(int count) {
        for (int i = 0; i < count; i++) {
            clients.add(LockClient.connect(server.uri()));
        }
    }

    LockClient get(int index) {
        return clients.get(index % clients.size());
    }

    <T> Future<T> start(Callable<T> work) {
        return threads.submit(work);
    }

    /** The result; what the work threw is thrown as it is. */
    static <T> T resultOf(Future<T> work) throws Exception {
        try {
            return work.get(PATIENCE, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        } catch (TimeoutException e) {
            throw new AssertionError("no end after " + PATIENCE + " s", e);
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
        clients.forEach(LockClient::close);
        server.close();
    }
}
