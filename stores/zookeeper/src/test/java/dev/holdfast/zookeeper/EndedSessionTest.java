package dev.holdfast.zookeeper;

import static dev.holdfast.zookeeper.RawStore.claim;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.ClientClosedException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.spi.support.ElapsedTime;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.ZooKeeperServer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.imps.DefaultACLProvider;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A session ends for this client while one of its claims is being granted, and the servers keep its node: the client
 * library gave the session up, or the servers came back with shorter sessions.
 */
@Timeout(120)
class EndedSessionTest {
    private static final Duration TIME_LIMIT = Duration.ofSeconds(30);
    private static final Duration TICK = Duration.ofMillis(300);
    private static final int LONG_SESSION = 60_000;

    @AutoClose
    private static final ZooKeeperServer server = ZooKeeperServers.quick();

    private final KitTime time = new KitTime();
    private final ElapsedTime elapsed = ElapsedTime.of(time);
    private CuratorFramework curator;
    private Connection connection;
    private ZooKeeperContext context;
    private PendingClaims claims;
    private Session ended;

    @BeforeEach
    void open() throws Exception {
        curator = CuratorFrameworkFactory.newClient(
                server.connectString(), LONG_SESSION, LONG_SESSION, new RetryOneTime(100));
        curator.start();
        curator.blockUntilConnected();
        connection = new Connection(curator, elapsed, TICK, elapsed::now);
        Paths paths = new Paths("");
        Errors errors = new Errors("zk://test");
        NodeDeleter deleter = new NodeDeleter(connection, paths, errors);
        context = new ZooKeeperContext(
                connection,
                paths,
                new DefaultACLProvider(),
                time,
                errors,
                new Timeouts(time, TIME_LIMIT, errors),
                deleter,
                new DeleteCreateBatch(deleter, time),
                new HeldNodes(deleter, time, true));
        claims = new PendingClaims(context);
        connection.open(new SilentListener());
        ended = new Session(curator.getZookeeperClient().getZooKeeper(), elapsed, TICK, elapsed.now());
        ended.end();
    }

    @AfterEach
    void close() {
        connection.close();
        curator.close();
        time.close();
    }

    @Test
    void theNodeOfAGrantIsRemovedWhoseSessionEndedBeforeItWasKept() throws Exception {
        HeldNode node = granted(claim("given-up"));

        context.heldNodes().check(node);

        assertThat(context.heldNodes().get(node.grant().id())).isNull();
        await().atMost(TIME_LIMIT).until(() -> curator.checkExists().forPath(node.path()) == null);
    }

    @Test
    void aClaimThatIsRepeatedIsMadeAgainInTheSessionThatIsOpen() throws Exception {
        Claim claim = claim("repeated");
        HeldNode node = granted(claim);

        Grant grant = Asked.of(claims::claim, claim)
                .answer()
                .get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS)
                .orElseThrow();

        assertThat(grant.number()).isGreaterThan(node.grant().number());
        HeldNode now = context.heldNodes().get(claim.id());
        assertThat(now).isNotNull();
        assertThat(now.session()).isSameAs(connection.session());
        await().atMost(TIME_LIMIT).until(() -> curator.checkExists().forPath(node.path()) == null);
        assertThat(curator.getChildren().forPath(node.lock())).containsExactly(now.node());
    }

    @Test
    void aClaimThatIsRepeatedWhenItsClientIsClosedIsNotMadeAgain() throws Exception {
        Claim claim = claim("closed");
        granted(claim);
        claims.failAll(new ClientClosedException("closed"));

        assertThatThrownBy(() -> Asked.of(claims::claim, claim).answer().get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(ClientClosedException.class);
    }

    /** A grant of the session that has ended, whose node is still there. */
    private HeldNode granted(Claim claim) throws Exception {
        String path = curator.create()
                .creatingParentsIfNeeded()
                .withMode(CreateMode.EPHEMERAL_SEQUENTIAL)
                .forPath(context.paths().lock(claim.name()) + "/" + Node.prefix(claim));
        long number = curator.checkExists().forPath(path).getCzxid();
        Grant grant = new Grant(claim.id(), claim.name(), claim.mode(), ended.lease(), number, time.nanoTime());
        HeldNode node = new HeldNode(grant, path, ended, true, context.heldNodes());
        context.heldNodes().add(node);
        return node;
    }

    /** The end was reported before the grant was kept: it is not reported again. */
    private static final class SilentListener implements Connection.Listener {
        @Override
        public void suspended(Session session) {}

        @Override
        public void connected(Session session) {}

        @Override
        public void ended(Session session) {}
    }
}
