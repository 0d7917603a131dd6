package dev.holdfast.zookeeper;

import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import java.util.concurrent.CompletionException;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * Failures, with messages that say what to do next.
 *
 * @param store the store, as messages name it; without user and password
 */
record Errors(String store) {

    /** An answer that is no success. */
    HoldfastException of(Code code, String path) {
        KeeperException cause = KeeperException.create(code, path);
        return switch (code) {
            case NOAUTH ->
                refused(
                        "does not let this user work on " + path + ": give the user that made the nodes, or set their"
                                + " ACLs to allow it",
                        cause);
            case AUTHFAILED ->
                refused("refused the log-in: correct user and password, or the SASL settings of this JVM", cause);
            case NOTREADONLY ->
                unavailable("is a read-only server that has lost the others; try again when they are back", cause);
            case CONNECTIONLOSS, OPERATIONTIMEOUT -> unavailable("cannot be reached, or the connection broke", cause);
            case SESSIONEXPIRED, SESSIONMOVED, SESSIONCLOSEDREQUIRESASLAUTH ->
                unavailable("ended this session; a new one is opened", cause);
            case QUOTAEXCEEDED ->
                unavailable(
                        "accepts no more nodes: a quota of " + path + " or of a node above it is used up; raise it"
                                + " (setquota), or remove what it counts; holds go on and can be released",
                        cause);
            case THROTTLEDOP, REQUESTTIMEOUT -> unavailable("has too much to do: " + code + " for " + path, cause);
            case UNIMPLEMENTED -> refused("is too old: ZooKeeper 3.6 or later is needed", cause);
            default -> refused("answered " + code + " for " + path, cause);
        };
    }

    StoreUnavailableException noAnswer() {
        return new StoreUnavailableException(
                store + " gave no answer in time: is a majority of its servers up, and can they be reached?");
    }

    StoreRefusedException tooManyToList(int names, String bucket) {
        return refused(
                "has too many locks to list them: " + names + " under " + bucket
                        + ", and an answer that long might break"
                        + " the connection; ask for the status of a lock by its name",
                null);
    }

    StoreRefusedException lineTooLong(String name) {
        return refused(
                "has " + Predecessors.MOST_BEFORE + " claims of '" + name
                        + "' already, and the list of many more might break"
                        + " the connection of every client that claims or holds it: try again when fewer clients wait"
                        + " or hold permits, or use several locks",
                null);
    }

    StoreRefusedException closedByOwner() {
        return refused("was closed by its owner: connect again, on a client that is open", null);
    }

    /** The node of a lock cannot number its claims for much longer. */
    StoreRefusedException countedOut(String name) {
        return refused(
                "has numbered as many claims of '" + name + "' as it can: let the lock be unused for a few minutes, so"
                        + " that its node is removed and the count begins again, or use another name",
                null);
    }

    /** The number of a grant is not above one that this client has seen. */
    StoreRefusedException fellBack(long number, long seen) {
        return refused(
                "counts its changes from " + number + ", but has given this client the grant number " + seen
                        + " before: was its data removed, or an old copy restored? Restart this client, and empty the"
                        + " fences that saw the higher tokens",
                null);
    }

    StoreRefusedException refused(String why, @Nullable Throwable cause) {
        return new StoreRefusedException(store + " " + why, cause);
    }

    StoreUnavailableException unavailable(String why, @Nullable Throwable cause) {
        return new StoreUnavailableException(store + " " + why, cause);
    }

    /** Whether a request with this answer may or may not have been carried out, or was surely not, on this connection. */
    static boolean isOfConnection(Code code) {
        return switch (code) {
            case CONNECTIONLOSS,
                    OPERATIONTIMEOUT,
                    SESSIONEXPIRED,
                    SESSIONMOVED,
                    NOTREADONLY,
                    THROTTLEDOP,
                    REQUESTTIMEOUT -> true;
            default -> false;
        };
    }

    /** Whether the answer to a read shows what exists: something, or nothing. */
    static boolean isKnown(Code code) {
        return code == Code.OK || code == Code.NONODE;
    }

    /** A failure as it was before futures wrapped it. */
    static Throwable unwrapped(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }
}
