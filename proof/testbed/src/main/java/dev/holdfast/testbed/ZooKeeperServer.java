package dev.holdfast.testbed;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A real ZooKeeper in a process of its own, on a private port and folder of this machine, with the durability it has by
 * default. Its classes come from the class path of this JVM: {@code org.apache.zookeeper:zookeeper} and, for the server,
 * {@code metrics-core} and {@code snappy-java}.
 *
 * <pre>{@code
 * try (ZooKeeperServer zooKeeper = ZooKeeperServer.start()) {
 *     CuratorFramework curator = newClient(zooKeeper.connectString(), retryPolicy);
 *     zooKeeper.process().stop();
 *     String figures = zooKeeper.command("mntr");
 * }
 * }</pre>
 *
 * <p>Thread-safe as its {@link ServerProcess} is.
 */
public final class ZooKeeperServer extends LocalServer {
    private static final String MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
    private static final String STATE = "zk_server_state";
    private static final int PATIENCE_MILLIS = 5_000;

    private ZooKeeperServer(ServerProcess process) {
        super(process);
    }

    /**
     * Starts a server and returns when it serves.
     *
     * @param flags flags of its JVM
     * @throws ServerMissingException when its classes are not on the class path
     */
    public static ZooKeeperServer start(String... flags) {
        return start(Map.of(), flags);
    }

    /**
     * Starts a server with settings of its own, such as {@code tickTime}.
     *
     * @param settings lines of its {@code zoo.cfg}
     * @param flags flags of its JVM
     * @throws ServerMissingException when its classes are not on the class path
     */
    public static ZooKeeperServer start(Map<String, String> settings, String... flags) {
        requireClasses();
        List<String> more = List.of(flags);
        return new ZooKeeperServer(ServerProcess.named("zookeeper")
                .prepare(home -> configure(home, settings))
                .command(home -> command(home, more))
                .readyWhen(home -> serves(home.port()))
                .start());
    }

    /** Starts one server of several and returns when its port is open; it serves when a majority is up. */
    static ZooKeeperServer member(int id, Map<String, String> settings, String... flags) {
        requireClasses();
        List<String> more = List.of(flags);
        return new ZooKeeperServer(ServerProcess.named("zookeeper" + id)
                .prepare(home -> {
                    configure(home, settings);
                    Setup.write(home, "data/myid", Integer.toString(id));
                })
                .command(home -> command(home, more))
                .readyWhen(home -> answers(home.port()))
                .start());
    }

    /** What it is by its own account: standalone, leader or follower; nothing while it does not serve. */
    String state() {
        try {
            return ask(port(), "mntr")
                    .lines()
                    .filter(line -> line.startsWith(STATE))
                    .map(line -> line.substring(STATE.length()).strip())
                    .findFirst()
                    .orElse("");
        } catch (IOException e) {
            return "";
        }
    }

    /** Its address, as {@code 127.0.0.1:20304}. */
    public String connectString() {
        return "127.0.0.1:" + port();
    }

    /** Asks one of the four letter words, as {@code mntr} or {@code ruok}. */
    public String command(String word) {
        try {
            return ask(port(), word);
        } catch (IOException e) {
            throw new UncheckedIOException("no answer to " + word, e);
        }
    }

    private static void configure(ServerHome home, Map<String, String> settings) {
        StringBuilder more = new StringBuilder();
        settings.forEach(
                (name, value) -> more.append(name).append('=').append(value).append('\n'));
        Setup.write(home, "zoo.cfg", """
                dataDir=%s
                clientPort=%d
                clientPortAddress=127.0.0.1
                maxClientCnxns=0
                admin.enableServer=false
                4lw.commands.whitelist=*
                %s""".formatted(home.folder().resolve("data"), home.port(), more));
    }

    private static List<String> command(ServerHome home, List<String> flags) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), MAIN));
        command.add(home.folder().resolve("zoo.cfg").toString());
        return command;
    }

    private static boolean answers(int port) {
        try {
            return !ask(port, "mntr").isEmpty();
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean serves(int port) {
        try {
            // Not only "imok": that it says as soon as its port is open.
            return ask(port, "mntr").contains(STATE);
        } catch (IOException e) {
            return false;
        }
    }

    private static String ask(int port, String word) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(Loopback.port(port), PATIENCE_MILLIS);
            socket.setSoTimeout(PATIENCE_MILLIS);
            socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
            InputStream answer = socket.getInputStream();
            return new String(answer.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static void requireClasses() {
        try {
            Class.forName(MAIN, false, ZooKeeperServer.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new ServerMissingException(
                    "zookeeper", MAIN + " on the class path", "add org.apache.zookeeper:zookeeper to the tests");
        }
    }
}
