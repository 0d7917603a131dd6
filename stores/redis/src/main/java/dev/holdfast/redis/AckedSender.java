package dev.holdfast.redis;

import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * One server with {@link Acks}. Calls that locks and records rely on use a connection on which the server waits for its
 * replicas. Status and lists use a second connection, which is not blocked meanwhile.
 */
record AckedSender(ScriptPipeline grants, ScriptPipeline others) implements ScriptSender {
    @Override
    public void send(ScriptCall call) {
        (call.isAboutGrants() ? grants : others).send(call);
    }

    @Override
    public int renewedTogether() {
        return grants.renewedTogether();
    }

    @Override
    public void beforeSending(String lock, Runnable task) {
        grants.beforeSending(lock, task);
    }

    @Override
    public CompletionStage<List<KeyPages>> keyPages() {
        return others.keyPages();
    }

    @Override
    public boolean isShutDown() {
        return grants.isShutDown();
    }

    @Override
    public void close(RuntimeException why) {
        grants.close(why);
        others.close(why);
    }

    @Override
    public void close() {
        grants.close();
        others.close();
    }
}
