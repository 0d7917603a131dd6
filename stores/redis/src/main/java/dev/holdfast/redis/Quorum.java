package dev.holdfast.redis;

import dev.holdfast.ClientClosedException;
import java.util.Set;

/** Opens a store on independent servers. */
final class Quorum {
    private Quorum() {}

    /** Connects to a majority at least. A failure leaves nothing behind. */
    static QuorumStore open(LettuceClients own, RedisUrl url, RedisErrors errors, Settings settings) {
        QuorumMembers members = new QuorumMembers(own.client(), url, settings, errors);
        try {
            Set<String> caveats = members.connect();
            return new QuorumStore(members, caveats, own::shutDown);
        } catch (RuntimeException | Error e) {
            members.close(new ClientClosedException(errors.store() + " was not opened"));
            members.close();
            own.shutDown();
            throw e;
        }
    }
}
