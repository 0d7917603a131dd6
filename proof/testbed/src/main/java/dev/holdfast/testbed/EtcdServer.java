package dev.holdfast.testbed;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A real etcd on private ports and in a private folder of this machine. It does not force its log to the disk, since no
 * test cuts the power.
 *
 * <pre>{@code
 * try (EtcdServer etcd = EtcdServer.start()) {
 *     Client client = Client.builder().endpoints("http://" + etcd.endpoint()).build();
 *     etcd.process().kill();
 *     etcd.process().restart();
 * }
 * }</pre>
 *
 * <p>Thread-safe as its {@link ServerProcess} is.
 */
public final class EtcdServer extends LocalServer {
    private static final String HOW_TO_GET = "apt-get install etcd-server";
    private static final String TLS = "https://";
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** One that has just started, or is stopped, may leave a request without an answer. */
    static final Duration READINESS = Duration.ofSeconds(2);

    private EtcdServer(ServerProcess process) {
        super(process);
    }

    /**
     * Starts a server and returns when it answers a write.
     *
     * @param options more options of the command line, which win over those set here
     * @throws ServerMissingException when there is no etcd on this machine
     */
    public static EtcdServer start(String... options) {
        return member("etcd", Ports.free(), List.of(options), true);
    }

    /**
     * As {@link #start}, with TLS on another port besides.
     *
     * @param tlsPort of {@link Ports#free}
     */
    public static EtcdServer startWithTls(Certificate certificate, int tlsPort) {
        List<String> options = List.of(
                "--cert-file=" + certificate.file(), "--key-file=" + certificate.key(), TLS + "127.0.0.1:" + tlsPort);
        return member("etcd", Ports.free(), options, true);
    }

    /** Starts a member of a cluster whose peers reach it at a port; one that does not lead yet may be left alone. */
    static EtcdServer member(String name, int peerPort, List<String> options, boolean serves) {
        Path program = Binaries.onThisMachine().find("etcd", HOW_TO_GET);
        return new EtcdServer(ServerProcess.named(name)
                .command(home -> command(program, home, name, peerPort, options))
                .environment(
                        "ETCD_UNSUPPORTED_ARCH", System.getProperty("os.arch").equals("aarch64") ? "arm64" : "")
                .readyWhen(home -> serves ? answers(home.port()) : accepts(home.port()))
                .start());
    }

    /** Its address, as {@code 127.0.0.1:20304}. */
    public String endpoint() {
        return "127.0.0.1:" + port();
    }

    /**
     * Asks by HTTP and JSON, as {@code etcd.ask("kv/range", "{\"key\":\"YQ==\"}")}.
     *
     * @throws IllegalStateException when it does not answer within a minute, or with an error
     */
    public String ask(String request, String body) {
        return ask(request, body, PATIENCE);
    }

    /** The same of one that may stand still. */
    String ask(String request, String body, Duration within) {
        return ask(endpoint(), request, body, within);
    }

    /** The version of the program. */
    public String version() {
        return get("version").replaceFirst("(?s).*\"etcdserver\":\"([^\"]*)\".*", "$1");
    }

    /**
     * What it has counted, summed where there is more than one such figure.
     *
     * @param name a regular expression for all that stands before the figure, as in
     *     {@code grpc_server_started_total\{.*"etcdserverpb.KV".*}}
     */
    public double metric(String name) {
        return Pattern.compile("(?m)^" + name + " (\\S+)$")
                .matcher(get("metrics"))
                .results()
                .mapToDouble(figure -> Double.parseDouble(figure.group(figure.groupCount())))
                .sum();
    }

    /** The number that an answer gives a field; 0 where it has no such field. */
    public static long field(String answer, String name) {
        Matcher field = Pattern.compile("\"" + name + "\":\"?(-?\\d+)").matcher(answer);
        return field.find() ? Long.parseUnsignedLong(field.group(1)) : 0;
    }

    private String get(String path) {
        return answer(HttpRequest.newBuilder(URI.create("http://" + endpoint() + "/" + path)), PATIENCE);
    }

    private static String ask(String endpoint, String request, String body, Duration within) {
        URI url = URI.create("http://" + endpoint + "/v3/" + request);
        return answer(HttpRequest.newBuilder(url).POST(BodyPublishers.ofString(body)), within);
    }

    private static String answer(HttpRequest.Builder asked, Duration within) {
        HttpRequest request = asked.timeout(within).build();
        String server = "etcd at " + request.uri().getAuthority();
        try {
            var answer = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
            if (answer.statusCode() == 200) {
                return answer.body();
            }
            throw new IllegalStateException(server + " answers " + answer.body());
        } catch (java.io.IOException e) {
            throw new IllegalStateException(server + " does not answer: " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    private static boolean answers(int port) {
        try {
            // A read that a majority agrees to; the port alone is open before there is a leader.
            ask("127.0.0.1:" + port, "kv/range", "{\"key\":\"YQ==\"}", READINESS);
            return true;
        } catch (IllegalStateException notYet) {
            return false;
        }
    }

    private static boolean accepts(int port) {
        try (java.net.Socket socket = new java.net.Socket()) {
            socket.connect(Loopback.port(port), (int) READINESS.toMillis());
            return true;
        } catch (java.io.IOException e) {
            return false;
        }
    }

    private static List<String> command(Path program, ServerHome home, String name, int peerPort, List<String> more) {
        String clients = "http://127.0.0.1:" + home.port();
        String peers = "http://127.0.0.1:" + peerPort;
        List<String> command = new ArrayList<>(List.of(
                program.toString(),
                "--name=" + name,
                "--data-dir=" + home.folder().resolve("data"),
                "--listen-client-urls=" + clients,
                "--advertise-client-urls=" + clients,
                "--listen-peer-urls=" + peers,
                "--initial-advertise-peer-urls=" + peers,
                "--initial-cluster=" + name + "=" + peers,
                "--unsafe-no-fsync",
                "--logger=zap",
                "--log-level=warn"));
        for (String option : more) {
            if (option.startsWith(TLS)) {
                command.replaceAll(each -> each.startsWith("--listen-client-urls") ? each + "," + option : each);
            } else {
                command.add(option);
            }
        }
        return command;
    }
}
