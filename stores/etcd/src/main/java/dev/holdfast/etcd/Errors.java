package dev.holdfast.etcd;

import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import io.etcd.jetcd.common.exception.ErrorCode;
import io.etcd.jetcd.common.exception.EtcdExceptionFactory;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Failures, with messages that say what to do next.
 *
 * @param store the store, as messages name it; without user and password
 */
record Errors(String store) {

    /** The lease of a request is gone: nothing of the request was carried out, and the keys of the lease are removed. */
    static final class LeaseGoneException extends HoldfastException {
        LeaseGoneException(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /** A request that failed. */
    HoldfastException of(Throwable failure) {
        Throwable cause = unwrapped(failure);
        if (cause instanceof HoldfastException known) {
            return known;
        }
        String said = said(cause);
        return switch (code(cause)) {
            case NOT_FOUND -> new LeaseGoneException(store + " no longer has the lease of this client", cause);
            case PERMISSION_DENIED ->
                refused("does not let this user work on the keys of Holdfast: grant its role readwrite on them", cause);
            case UNAUTHENTICATED ->
                isTransient(cause, said)
                        ? unavailable("could not log in yet", cause)
                        : refused("refused the log-in (" + said + "): correct user and password", cause);
            case FAILED_PRECONDITION, INVALID_ARGUMENT ->
                refused(
                        said.contains("user name is empty")
                                ? "takes no request without a log-in: name a user in the URL, and its password"
                                : "refused a request: " + said,
                        cause);
            case OUT_OF_RANGE ->
                refused(
                        said.contains("lease TTL")
                                ? "does not give leases that long (" + said + "): ask for a shorter one"
                                : "refused a request: " + said,
                        cause);
            case RESOURCE_EXHAUSTED ->
                unavailable(
                        said.contains("too many requests")
                                ? "is overloaded (" + said + "): try again"
                                : "takes no more (" + said
                                        + "): compact and defragment it, or raise its quota, and disarm" + " the alarm",
                        cause);
            case UNIMPLEMENTED -> refused("is not etcd 3.3 or later: " + said, cause);
            default -> unavailable("gave no answer, or none that etcd 3 gives (" + said + ")", cause);
        };
    }

    /** Whether a request that failed so was surely not carried out, and never will be. */
    static boolean isDefinite(HoldfastException failure) {
        return failure instanceof LeaseGoneException || failure instanceof StoreRefusedException;
    }

    /**
     * Whether a request that failed so was answered, and will not be carried out later. For want of space, it may have been
     * carried out before: the servers then remove keys, and write none.
     */
    static boolean isAnswer(HoldfastException failure) {
        Throwable cause = failure.getCause();
        return isDefinite(failure) || cause != null && code(cause) == ErrorCode.RESOURCE_EXHAUSTED;
    }

    StoreUnavailableException noAnswer() {
        return new StoreUnavailableException(
                store + " gave no answer in time: is a majority of its members up, and can they be reached?");
    }

    StoreUnavailableException leaderChanged() {
        return new StoreUnavailableException(store + " elects a leader: try again");
    }

    StoreRefusedException lineTooLong(String name, int most) {
        return refused(
                "has " + most + " claims of '" + name + "' already: try again when fewer clients wait or hold permits,"
                        + " or use several locks",
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

    /** A failure as it was before futures wrapped it. */
    static Throwable unwrapped(Throwable failure) {
        Throwable cause = failure.getCause();
        boolean wraps = failure instanceof CompletionException || failure instanceof ExecutionException;
        return wraps && cause != null ? unwrapped(cause) : failure;
    }

    /** jetcd fails with its own exception, or with that of gRPC, by the kind of request. */
    private static ErrorCode code(Throwable failure) {
        return EtcdExceptionFactory.toEtcdException(failure).getErrorCode();
    }

    /** The innermost text: gRPC's own is "io exception" where that of its cause is "Connection refused". */
    private static String said(Throwable failure) {
        String innermost = failure.toString();
        for (Throwable each = failure; each != null; each = each.getCause()) {
            String said = each instanceof StatusRuntimeException status
                    ? status.getStatus().getDescription()
                    : each.getMessage();
            if (said != null && !said.isEmpty()) {
                innermost = said;
            }
        }
        return innermost;
    }

    /** jetcd reports a log-in that did not reach the servers as one that was refused. */
    private static boolean isTransient(Throwable failure, String said) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            Status status = each instanceof StatusRuntimeException unchecked
                    ? unchecked.getStatus()
                    : each instanceof StatusException checked ? checked.getStatus() : Status.OK;
            switch (status.getCode()) {
                case UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED -> {
                    return true;
                }
                default -> {}
            }
        }
        return said.contains("invalid auth token");
    }
}
