package dev.holdfast.redis;

/** What others make of what happens to the connection of a {@link ScriptPipeline}. */
interface PipelineEvents {
    /** It stands again. */
    default void connected() {}

    /** It broke. */
    default void disconnected() {}

    /** The Lettuce client was shut down, and with it the timer by which anybody would notice. */
    default void shutDown(RuntimeException why) {}

    /** The server has become a replica: what else is connected to it has to connect again. */
    default void becameReplica() {}

    /** Takes a call that the server would not run, because another one has its lock now or soon. */
    default boolean redirected(ScriptCall call, String answer) {
        return false;
    }

    /** Takes a call that a {@linkplain ScriptPipeline#retire retired} connection did not send, or must send again. */
    default void unsent(ScriptCall call) {}
}
