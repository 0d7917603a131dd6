package dev.holdfast.zookeeper;

import dev.holdfast.spi.TimeSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.zookeeper.data.ACL;

/** The parts that all requests about locks share. */
record ZooKeeperContext(
        Connection connection,
        Paths paths,
        ACLProvider acls,
        TimeSource time,
        Errors errors,
        Timeouts timeouts,
        NodeDeleter deleter,
        DeleteCreateBatch batches,
        HeldNodes heldNodes) {

    /** The rights to a node that is made. */
    List<ACL> acl(String path) {
        List<ACL> own = acls.getAclForPath(path);
        return own == null ? acls.getDefaultAcl() : own;
    }

    /** An answer that fails when it takes too long; the same future. */
    <T> CompletableFuture<T> limited(CompletableFuture<T> answer) {
        timeouts.end(answer);
        return answer;
    }
}
