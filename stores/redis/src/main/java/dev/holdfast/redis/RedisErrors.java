package dev.holdfast.redis;

import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.support.Secrets;
import dev.holdfast.spi.support.StoredToken;
import io.lettuce.core.RedisCommandExecutionException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Failures, in words that say what to do next. The server wraps an error that a script met, differently in each
 * version, so the code is searched anywhere in its text. No text of ours shows a user or a password.
 *
 * @param store the store, as messages name it
 */
record RedisErrors(String store) {
    private static final String KEYS = "its keys are holdfast:*";
    private static final String NUMBER = "holdfast:number (in a cluster those that begin so)";
    private static final String NO_RIGHT_IN_SCRIPT = "The user executing the script can't";
    private static final String NO_RIGHT =
            "does not let this user run a command or reach a key or channel that locks need:"
                    + " grant what the page of the Redis store lists";
    private static final String NO_COMMAND = "does not know a command that locks need: it must be Redis 5 or later, and"
            + " have none of its commands renamed";
    /** The answer to a WAIT that arrives after a master became a replica; a WAIT already under way ends with UNBLOCKED. */
    private static final String WAIT_OF_REPLICA = "WAIT cannot be used";

    private static final String BECAME_REPLICA = "has become a replica while it waited for its own replicas; try again";
    private static final Pattern UNKNOWN_MASTER = Pattern.compile("using sentinel for masterId (\\S+)");
    private static final Pattern NO_SENTINEL = Pattern.compile("(?i)unknown (?:redis )?command.*sentinel");
    private static final int MOST_CAUSES = 50;
    /** A server that has AUTH or HELLO renamed, or is too old for it, repeats the log-in. */
    private static final Secrets REPEATED =
            Secrets.matching(Pattern.compile("(?<=with args beginning with: ).*", Pattern.DOTALL));

    private static final Pattern LOG_IN =
            Pattern.compile("NOAUTH|WRONGPASS|invalid password|no password is set|without any password configured");

    private static final Pattern OURS = Pattern.compile("HOLDFAST (\\w+)");

    /** An answer of the server, and its meaning: refused for good, or only for now. */
    private record Meaning(String code, boolean forGood, String words) {}

    private static final List<Meaning> MEANINGS = List.of(
            new Meaning("NOAUTH", true, "wants a log-in: give user and password in the URL, or HOLDFAST_PASSWORD"),
            new Meaning("WRONGPASS", true, "refused the user or the password; correct them"),
            new Meaning("invalid password", true, "refused the password; correct it"),
            new Meaning("no password is set", true, "has no password, but one was given: leave it out"),
            new Meaning("without any password configured", true, "has no password, but one was given: leave it out"),
            new Meaning("NOPERM", true, NO_RIGHT),
            new Meaning("ACL failure", true, NO_RIGHT),
            new Meaning(NO_RIGHT_IN_SCRIPT, true, NO_RIGHT),
            new Meaning(
                    "WRONGTYPE",
                    true,
                    "has a key of another type where this lock or the last grant number is kept, not written by"
                            + " Holdfast: remove it, or use another namespace or database; " + KEYS),
            new Meaning("DB index", true, "has no database of that number: correct the URL"),
            new Meaning(
                    "cluster support disabled",
                    true,
                    "is no cluster, but a single server: write redis:// instead of redis-cluster://"),
            new Meaning("unknown command", true, NO_COMMAND),
            new Meaning("Unknown Redis command", true, NO_COMMAND),
            new Meaning(
                    "MOVED",
                    true,
                    "is a node of a cluster, and another node has this lock: write redis-cluster:// instead of redis://"),
            new Meaning("non local key", false, "is moving this lock to another node; try again"),
            new Meaning("TRYAGAIN", false, "is moving this lock to another node; try again"),
            new Meaning(
                    "CROSSSLOT",
                    true,
                    "is a cluster behind one address, which cannot renew two locks together: write redis-cluster://"),
            new Meaning("while the cluster is down", false, "is a cluster that does not serve this lock now"),
            new Meaning("UNBLOCKED", false, BECAME_REPLICA),
            new Meaning(WAIT_OF_REPLICA, false, BECAME_REPLICA),
            new Meaning("CLUSTERDOWN", false, "is a cluster that does not serve this lock now"),
            new Meaning(
                    "OOM",
                    false,
                    "is out of memory and refuses new locks; renewals and releases still work: raise"
                            + " maxmemory or remove data"),
            new Meaning("LOADING", false, "is loading its data; try again in a moment"),
            new Meaning("BUSY", false, "is busy with a long script of another client; SCRIPT KILL ends it"),
            new Meaning("READONLY", false, "is a replica and takes no writes: name the master"),
            new Meaning("MISCONF", false, "refuses writes because it cannot save its data: see its log"),
            new Meaning("MASTERDOWN", false, "is a replica without its master"),
            new Meaning("NOREPLICAS", false, "has fewer replicas than it needs to take writes"),
            new Meaning("max number of clients", false, "has too many clients: raise maxclients"));

    /** The failure of a request. */
    HoldfastException of(Throwable failure) {
        if (failure instanceof HoldfastException known) {
            return known;
        }
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (each instanceof RedisCommandExecutionException) {
                return answered(String.valueOf(each.getMessage()), failure);
            }
        }
        return unavailable("cannot be reached: " + rootMessage(failure), failure);
    }

    /** The failure to connect. */
    HoldfastException ofConnecting(Throwable failure, boolean tls) {
        for (Throwable each : chain(failure)) {
            String said = String.valueOf(each.getMessage());
            if (each instanceof HoldfastException known) {
                return known;
            }
            Matcher unknown = UNKNOWN_MASTER.matcher(said);
            if (unknown.find()) {
                return refused(
                        "has no master '" + unknown.group(1)
                                + "': the Sentinels watch none of that name; SENTINEL MASTERS"
                                + " lists those that they do",
                        failure);
            }
            if (each instanceof RedisCommandExecutionException
                    && NO_SENTINEL.matcher(said).find()) {
                return refused("is no Sentinel: name Sentinels, or write redis:// for a server", failure);
            }
            if (each instanceof RedisCommandExecutionException) {
                return answered(said, failure);
            }
            if (each instanceof SSLException) {
                return said.contains("not an SSL/TLS record")
                        ? refused("does not speak TLS: write redis:// instead of rediss://", failure)
                        : refused(
                                "could not agree on TLS: " + said + "; is its certificate trusted (cacert=)?", failure);
            }
            if (each instanceof UnknownHostException) {
                return unavailable("cannot be found: there is no such host", failure);
            }
            if (said.contains("Invalid first byte")
                    || each.getClass().getSimpleName().contains("Protocol")) {
                return refused("is no Redis server: its answer is not in Redis's protocol", failure);
            }
            if (each instanceof java.net.ConnectException) {
                return unavailable("refuses connections: is it running, and is this its port?", failure);
            }
        }
        return unavailable(
                "did not answer as Redis does: " + rootMessage(failure)
                        + (tls ? "; if it has no TLS, write redis://" : "; if it wants TLS, write rediss://"),
                failure);
    }

    /** The refusal of a log-in, where that is why a connection failed; else null. */
    @Nullable
    HoldfastException ofLogIn(Throwable failure) {
        return chain(failure).stream()
                .filter(RedisCommandExecutionException.class::isInstance)
                .map(each -> String.valueOf(each.getMessage()))
                .filter(said -> LOG_IN.matcher(said).find())
                .findFirst()
                .map(said -> answered(said, failure))
                .orElse(null);
    }

    /** The failure, its causes, and the failures that Lettuce noted beside them. */
    private static List<Throwable> chain(Throwable failure) {
        List<Throwable> all = new ArrayList<>(List.of(failure));
        for (int i = 0; i < all.size() && i < MOST_CAUSES; i++) {
            Throwable each = all.get(i);
            if (each.getCause() != null) {
                all.add(each.getCause());
            }
            all.addAll(List.of(each.getSuppressed()));
        }
        return all;
    }

    /** Whether the server does not know a script by its digest. */
    static boolean isUnknownScript(Throwable failure) {
        return failure instanceof RedisCommandExecutionException
                && String.valueOf(failure.getMessage()).startsWith("NOSCRIPT");
    }

    /** Whether a node of a cluster has not run a command, because another node has its keys, or none has now. */
    static boolean isOfCluster(Throwable failure) {
        String said = String.valueOf(failure.getMessage());
        return failure instanceof RedisCommandExecutionException
                && (said.startsWith("MOVED ")
                        || said.startsWith("ASK ")
                        || said.startsWith("TRYAGAIN")
                        || said.startsWith("CLUSTERDOWN")
                        || said.contains("while the cluster is down"));
    }

    /** Whether the server takes no writes since it has become a replica, with its master or without. */
    static boolean isReplica(Throwable failure) {
        String said = String.valueOf(failure.getMessage());
        return failure instanceof RedisCommandExecutionException
                && (said.contains("READONLY")
                        || said.contains("MASTERDOWN")
                        || said.contains("UNBLOCKED")
                        || said.contains(WAIT_OF_REPLICA));
    }

    /**
     * Whether a script failed because of the data under the keys of its lock: another program's data, a newer layout.
     */
    static boolean isOfRecord(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            String said = String.valueOf(each.getMessage());
            if (each instanceof RedisCommandExecutionException
                    && !said.contains(NO_RIGHT_IN_SCRIPT)
                    && (OURS.matcher(said).find() || said.contains("WRONGTYPE") || said.contains("user_script"))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether a connection ended before the reason was reported: Lettuce then saw it close during the greeting, or
     * found it closed, and its handlers gone, before it could read the result of the greeting.
     */
    static boolean endedEarly(Throwable failure) {
        String said = rootMessage(failure);
        return said.contains("closed prematurely") || said.contains("RedisHandshakeHandler not registered");
    }

    /** A failure as it was before futures wrapped it. */
    static Throwable unwrapped(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    private HoldfastException answered(String said, Throwable failure) {
        Matcher ours = OURS.matcher(said);
        if (ours.find()) {
            return refused(
                    switch (ours.group(1)) {
                        case "foreign" ->
                            "has a value where this lock is kept that is no lock: remove it, or use another namespace"
                                    + " or database; " + KEYS;
                        case "number" ->
                            "has no number where the last grant number is kept: remove the key " + NUMBER
                                    + ", and the server's clock goes on from there";
                        case "numberahead" ->
                            "has a last grant number that is more than ten years ahead of its clock, as after a clock that was"
                                    + " wrong: if its clock is right now, remove the key " + NUMBER
                                    + "; else set the clock";
                        case "floorahead" ->
                            "gave this client (or a member of its quorum did) a grant number more than ten years ahead of its"
                                    + " clock, which was wrong then or is now: set the clock, remove the key " + NUMBER
                                    + ", and connect again; what checks tokens has to forget those that it has seen";
                        case "foreigntoken" -> StoredToken.foreign("key is holdfast:fence:RESOURCE");
                        case "foreignrecord" ->
                            "has a value where the record of this work is kept that is no record: remove it, or use"
                                    + " another namespace or database; its key is holdfast:{NAME}:r";
                        default ->
                            "has this lock in layout " + ours.group(1) + ", written by a newer Holdfast, and this one"
                                    + " knows layout 1: upgrade";
                    },
                    failure);
        }
        for (Meaning meaning : MEANINGS) {
            if (said.contains(meaning.code)) {
                return meaning.forGood ? refused(meaning.words, failure) : unavailable(meaning.words, failure);
            }
        }
        return refused("answered: " + REPEATED.hide(said), failure);
    }

    StoreRefusedException refused(String why, @Nullable Throwable cause) {
        return new StoreRefusedException(store + " " + why, cause == null ? null : REPEATED.hide(cause));
    }

    private StoreUnavailableException unavailable(String why, @Nullable Throwable cause) {
        return new StoreUnavailableException(store + " " + why, cause == null ? null : REPEATED.hide(cause));
    }

    private static String rootMessage(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root.getMessage() == null ? root.getClass().getSimpleName() : REPEATED.hide(root.getMessage());
    }
}
