package dev.holdfast.redis;

/** The reports of a {@link ScriptPipeline} about its connection, and the calls that it returns. */
interface PipelineEvents {
    /** It is connected again. */
    default void connected() {}

    /** It broke. */
    default void disconnected() {}

    /** The Lettuce client was shut down, and with it the timer by which any caller would notice. */
    default void shutDown(RuntimeException why) {}

    /** The server has become a replica: the other connections to it have to be made again. */
    default void becameReplica() {}

    /** Takes a call that the server would not run, because another one has its lock now or soon. */
    default boolean redirected(ScriptCall call, String answer) {
        return false;
    }

    /** Takes a call that a {@linkplain ScriptPipeline#retire retired} connection did not send, or must send again. */
    default void unsent(ScriptCall call) {}
}
