package dev.holdfast.cli;

import static dev.holdfast.testbed.OrSkip.orSkip;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.Ports;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.RedisCluster;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.ZooKeeperServer;
import java.io.File;
import java.lang.ref.WeakReference;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.h2.tools.Server;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * An application with a class loader of its own uses locks and is undeployed, as in a servlet container: its class loader
 * is collected, so neither Holdfast nor the JDK on its behalf keeps anything of it.
 */
@Tag("thorough")
@Timeout(300)
class RedeployTest {
    private static final Duration PATIENCE = Duration.ofMinutes(4);

    @TempDir
    Path folder;

    @Test
    void inMemory() throws Exception {
        leavesNothing("mem:redeploy");
    }

    @Test
    void onSqlite() throws Exception {
        leavesNothing("sqlite:" + folder.resolve("locks.db"));
    }

    @Test
    void onH2() throws Exception {
        Server server = Server.createTcpServer("-tcpPort", Integer.toString(Ports.free()), "-ifNotExists")
                .start();
        try {
            leavesNothing("jdbc:h2:tcp://127.0.0.1:" + server.getPort() + "/" + folder.resolve("locks"));
        } finally {
            server.stop();
        }
    }

    @Test
    void onH2InTheProcess() throws Exception {
        leavesNothing("jdbc:h2:" + folder.resolve("locks"));
    }

    @Test
    void onPostgres() throws Exception {
        try (PostgresServer server = orSkip(() -> PostgresServer.start())) {
            leavesNothing(server.jdbcUrl());
            leavesNothing(with(server.jdbcUrl(), "mode=session"));
        }
    }

    @Test
    void onMariaDb() throws Exception {
        try (MariaDbServer server = orSkip(() -> MariaDbServer.start())) {
            leavesNothing(server.jdbcUrl());
            leavesNothing(with(server.jdbcUrl(), "mode=session"));
        }
    }

    @Test
    void onRedis() throws Exception {
        try (RedisServer server = orSkip(() -> RedisServer.start())) {
            leavesNothing(server.uri());
        }
    }

    @Test
    void onARedisCluster() throws Exception {
        try (RedisCluster cluster = orSkip(() -> RedisCluster.start(3, 0))) {
            leavesNothing("redis-cluster://" + cluster.hosts());
        }
    }

    @Test
    void onAQuorumOfRedisServers() throws Exception {
        try (RedisServer one = orSkip(() -> RedisServer.start());
                RedisServer two = orSkip(() -> RedisServer.start());
                RedisServer three = orSkip(() -> RedisServer.start())) {
            List<RedisServer> members = List.of(one, two, three);
            for (RedisServer member : members) {
                member.call("SET", "holdfast:quorum", "1 0 0 -"); // new servers, which have forgotten nothing
            }
            leavesNothing("quorum:" + members.stream().map(RedisServer::uri).collect(Collectors.joining(",")));
        }
    }

    @Test
    void onZooKeeper() throws Exception {
        try (ZooKeeperServer server = orSkip(() -> ZooKeeperServer.start())) {
            leavesNothing("zk://" + server.connectString());
        }
    }

    private static String with(String url, String parameter) {
        return url + (url.contains("?") ? "&" : "?") + parameter;
    }

    /**
     * In a JVM of its own, so that the application is the first to make what the JDK makes once in a process. What the JDK
     * refers to softly, it would keep for a second for each free megabyte.
     */
    private static void leavesNothing(String url) {
        try (ChildProcess container = ChildJvm.main(Container.class)
                .flags("-XX:SoftRefLRUPolicyMSPerMB=0")
                .args(url)
                .start()) {
            container.expect("undeployed", PATIENCE);
        }
    }

    /** The child JVM: deploys an application, undeploys it, and deploys it again. */
    static final class Container {
        private Container() {}

        public static void main(String[] arguments) throws Exception {
            WeakReference<ClassLoader> application = deployedAndUndeployed(arguments[0]);
            // Java 17 to 18 keep the last class whose records were compared (JDK-8078641), until there is another.
            WeakReference<ClassLoader> again = deployedAndUndeployed(arguments[0]);
            while (application.get() != null) {
                System.gc();
                TimeUnit.MILLISECONDS.sleep(100);
            }
            System.out.println("undeployed" + (again.get() == null ? ", and the second one as well" : ""));
        }

        private static WeakReference<ClassLoader> deployedAndUndeployed(String url) throws Exception {
            try (URLClassLoader loader =
                    new URLClassLoader("application", classPath(), ClassLoader.getPlatformClassLoader())) {
                @SuppressWarnings("unchecked")
                Consumer<String> application = (Consumer<String>) loader.loadClass(Application.class.getName())
                        .getDeclaredConstructor()
                        .newInstance();
                FutureTask<Void> task = new FutureTask<>(() -> application.accept(url), null);
                Thread thread = new Thread(task);
                thread.setContextClassLoader(loader);
                thread.start();
                task.get();
                return new WeakReference<>(loader);
            }
        }

        private static URL[] classPath() throws MalformedURLException {
            String[] paths = System.getProperty("java.class.path").split(File.pathSeparator);
            URL[] urls = new URL[paths.length];
            for (int i = 0; i < paths.length; i++) {
                urls[i] = Path.of(paths[i]).toUri().toURL();
            }
            return urls;
        }
    }

    /** The part that the application's own class loader loads. */
    public static final class Application implements Consumer<String> {
        private static final HoldOptions LONG = HoldOptions.defaults().lease(Duration.ofSeconds(30));

        /** Made by reflection. */
        public Application() {}

        @Override
        public void accept(String url) {
            try (LockClient one = LockClient.connect(url);
                    LockClient two = LockClient.connect(url)) {
                use(one, two);
            } catch (Exception failed) {
                throw new IllegalStateException(failed);
            }
            // as containers do: drivers register themselves with the JDK, once, when they are loaded
            List<Driver> own = Collections.list(DriverManager.getDrivers());
            own.stream()
                    .filter(driver ->
                            driver.getClass().getClassLoader() == getClass().getClassLoader())
                    .forEach(Application::deregister);
        }

        private static void use(LockClient one, LockClient two) throws Exception {
            CompletableFuture<Void> wanted = new CompletableFuture<>();
            Hold hold = one.lock("redeploy", LONG).acquire();
            hold.onLost(loss -> {});
            if (one.capabilities().wanted()) {
                hold.onWanted(() -> wanted.complete(null));
            } else {
                wanted.complete(null);
            }
            CompletableFuture<Hold> next = two.lock("redeploy", LONG).acquireAsync();
            wanted.get(30, TimeUnit.SECONDS);
            hold.close();
            next.get(30, TimeUnit.SECONDS).close();
            one.lock("redeploy").asLock().lock();
            one.lock("redeploy").asLock().unlock();
            one.list("");
            one.lock("left-open", LONG).acquire();
        }

        private static void deregister(Driver driver) {
            try {
                DriverManager.deregisterDriver(driver);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
