package dev.holdfast.redis;

import java.util.List;
import java.util.concurrent.CompletionStage;

/** Sends scripts to one member of a quorum. */
record MemberSender(QuorumMember member) implements ScriptSender {
    @Override
    public void send(ScriptCall call) {
        member.send(call);
    }

    @Override
    public int renewedTogether() {
        return ScriptPipeline.RENEWED_TOGETHER;
    }

    @Override
    public void beforeSending(String lock, Runnable task) {
        task.run();
    }

    @Override
    public CompletionStage<List<KeyPages>> keyPages() {
        return member.keyPages();
    }

    @Override
    public boolean isShutDown() {
        return member.isShutDown();
    }

    @Override
    public void close(RuntimeException why) {
        member.close(why);
    }

    @Override
    public void close() {
        member.close();
    }
}
