package dev.holdfast.zookeeper;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.spi.StoreFence;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;

/** A {@link ZooKeeperFence} in a session of its own. */
record UrlFence(CuratorFramework curator, ZooKeeperFence fence) implements StoreFence {
    private static final int RETRY_MILLIS = 500;

    static UrlFence open(ZooKeeperUrl url) {
        int timeout = Math.toIntExact(url.options().timeout().toMillis());
        CuratorFrameworkFactory.Builder builder = CuratorFrameworkFactory.builder()
                .connectString(url.connectString())
                .sessionTimeoutMs(Math.toIntExact(url.sessionToAsk().toMillis()))
                .connectionTimeoutMs(timeout)
                .retryPolicy(new RetryOneTime(RETRY_MILLIS))
                .ensembleTracker(false)
                .aclProvider(CuratorClients.acls(url));
        url.config().ifPresent(builder::zkClientConfig);
        url.user().ifPresent(user -> builder.authorization("digest", user.getBytes(UTF_8)));
        CuratorFramework curator = builder.build();
        curator.start();
        UrlFence opened = new UrlFence(curator, ZooKeeperFence.on(curator));
        try {
            if (curator.blockUntilConnected(timeout, TimeUnit.MILLISECONDS)) {
                return opened;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        opened.close();
        throw new Errors(url.description()).unavailable("cannot be reached", null);
    }

    @Override
    public void check(String resource, long token) {
        fence.check(resource, token);
    }

    @Override
    public void close() {
        curator.close();
    }
}
