package dev.holdfast.zookeeper;

import dev.holdfast.HoldfastException;
import dev.holdfast.zookeeper.Session.Found;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.ACL;

/** The nodes under which all others are, and the version of their contents, which the topmost states. */
record Layout(Paths paths, ACLProvider acls, Errors errors) {
    private static final int VERSION = 1;
    /** The text of the topmost node. */
    static final String SAYS = "holdfast " + VERSION;

    private static final String PATTERN = "holdfast \\d{1,9}";

    /** Makes what is not there, and refuses what a newer Holdfast made. */
    CompletableFuture<Session> prepare(Session session) {
        return session.read(paths.root()).thenCompose(read -> {
            if (read.code() == Code.OK) {
                check(read.text());
                return session.exists(paths.locks()).thenCompose(found -> makeIfAbsent(session, found.code()));
            }
            return makeIfAbsent(session, read.code());
        });
    }

    private CompletableFuture<Session> makeIfAbsent(Session session, Code found) {
        return switch (found) {
            case OK -> CompletableFuture.completedFuture(session);
            case NONODE -> make(session).thenApply(made -> session);
            default -> throw errors.of(found, paths.root());
        };
    }

    private CompletableFuture<Boolean> make(Session session) {
        CompletableFuture<Boolean> made = CompletableFuture.completedFuture(true);
        for (int end = paths.base().indexOf('/', 1); !paths.base().isEmpty(); ) {
            String path = end < 0 ? paths.base() : paths.base().substring(0, end);
            made = made.thenCombine(make(session, path, ""), Boolean::logicalAnd);
            if (end < 0) {
                break;
            }
            end = paths.base().indexOf('/', end + 1);
        }
        return made.thenCombine(make(session, paths.root(), SAYS), Boolean::logicalAnd)
                .thenCombine(make(session, paths.locks(), ""), Boolean::logicalAnd);
    }

    private CompletableFuture<Boolean> make(Session session, String path, String text) {
        List<ACL> own = acls.getAclForPath(path);
        List<ACL> acl = own == null ? acls.getDefaultAcl() : own;
        return session.create(path, text, acl, CreateMode.PERSISTENT).thenApply(made -> isThere(made, path));
    }

    private boolean isThere(Found made, String path) {
        return switch (made.code()) {
            case OK, NODEEXISTS -> true;
            case NONODE ->
                throw errors.refused(
                        "has no node to put " + path + " under: make the chroot of the URL first, or correct it", null);
            default -> throw errors.of(made.code(), path);
        };
    }

    private void check(String says) {
        if (!says.matches(PATTERN)) {
            throw errors.refused(
                    "has a node " + paths.root() + " that is not Holdfast's: use another chroot or namespace", null);
        }
        int version = Integer.parseInt(says.substring(says.indexOf(' ') + 1));
        if (version > VERSION) {
            throw refuse(version);
        }
    }

    private HoldfastException refuse(int version) {
        return errors.refused(
                "is laid out in version " + version + " by a newer Holdfast, and this one knows " + VERSION
                        + ": upgrade",
                null);
    }
}
