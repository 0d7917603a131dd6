package dev.holdfast.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Context;
import io.grpc.MethodDescriptor;
import java.io.File;
import java.net.URI;
import java.net.URLDecoder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * A URL of etcd servers, taken apart: {@code etcd://[USER[:PASSWORD]@]HOST[:PORT],HOST[:PORT]…[/PREFIX]}, {@code etcds:}
 * with TLS, with the parameters {@code timeout}, {@code cacert}, {@code cert} and {@code key}. In user, password and
 * prefix, characters with a meaning in URLs are written as {@code %40}.
 *
 * @param hosts each with its port
 * @param user {@code USER} and {@code PASSWORD}; empty without a log-in
 * @param prefix of all keys; empty, or with a slash before and none behind
 * @param timeout how long a request may go without an answer
 * @param cacert the certificates to trust; empty for those of the JVM
 * @param cert the client's own, with its key
 */
record EtcdUrl(
        boolean tls,
        List<String> hosts,
        List<String> user,
        String prefix,
        Duration timeout,
        Optional<File> cacert,
        Optional<File> cert,
        Optional<File> key) {
    static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final Duration PING = Duration.ofSeconds(10);
    private static final String PORT = ":2379";
    private static final int HIGHEST_PORT = 65_535;
    private static final int LARGEST_ANSWER = 64 << 20;
    private static final String GOOD_URLS =
            "write etcd://host1:2379,host2:2379,host3:2379 or etcds://user:password@host:2379/prefix?cacert=FILE";
    private static final Pattern URL = Pattern.compile(
            "etcd(s?)://(?:([^@/?#]*)@)?([^@/?#]+)(/[^@?#]*)?(?:\\?([^#]*))?", Pattern.CASE_INSENSITIVE);
    private static final Pattern HOST = Pattern.compile("(?:[\\w.-]+|\\[[0-9A-Fa-f:.%]+])(:(\\d{1,5}))?");
    private static final Pattern TIME = Pattern.compile("(\\d{1,7})(ms|s|m)");

    /**
     * Takes a URL apart.
     *
     * @throws IllegalArgumentException if it is malformed; the message says how a good one is written
     */
    static EtcdUrl parse(String url, Optional<String> password) {
        Matcher parts = URL.matcher(url);
        if (!parts.matches()) {
            throw new IllegalArgumentException("not an etcd URL; " + GOOD_URLS);
        }
        List<String> hosts = new ArrayList<>();
        for (String host : parts.group(3).split(",", -1)) {
            Matcher named = HOST.matcher(host);
            if (!named.matches() || !isPort(named.group(2))) {
                throw new IllegalArgumentException(
                        "an etcd URL names servers between commas, with ports from 1 to 65535; " + GOOD_URLS);
            }
            hosts.add(named.group(1) == null ? host + PORT : host);
        }
        EtcdUrl parsed = new EtcdUrl(
                !parts.group(1).isEmpty(),
                List.copyOf(hosts),
                user(parts.group(2), password),
                prefix(parts.group(4)),
                TIMEOUT,
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
        String query = parts.group(5) == null ? "" : parts.group(5);
        for (String parameter : query.isEmpty() ? new String[0] : query.split("&", -1)) {
            parsed = parsed.with(
                    parameter.substring(0, Math.max(0, parameter.indexOf('='))),
                    decode(parameter.substring(parameter.indexOf('=') + 1)));
        }
        boolean half = parsed.cert.isPresent() != parsed.key.isPresent();
        if (half || !parsed.tls && (parsed.cacert.isPresent() || parsed.cert.isPresent())) {
            throw new IllegalArgumentException(
                    "cacert, and cert together with key, are parameters of an etcds: URL; " + GOOD_URLS);
        }
        return parsed;
    }

    @Override
    public String toString() {
        return description();
    }

    /** As messages name the store: without user and password. */
    String description() {
        return (tls ? "etcds://" : "etcd://") + String.join(",", hosts) + prefix;
    }

    /**
     * A client of these servers, which connects with its first request. A request that is no longer waited for ends soon: else
     * jetcd would send it whenever the servers are back.
     *
     * @throws IllegalArgumentException if a file is not one of certificates or a key
     */
    Client connect() {
        ClientBuilder builder = Client.builder()
                .endpoints(hosts.stream()
                        .map(host -> URI.create((tls ? "https://" : "http://") + host))
                        .toList())
                .waitForReady(false)
                .connectTimeout(timeout)
                .keepaliveTime(PING) // servers refuse more than one in five seconds
                .keepaliveTimeout(timeout)
                .keepaliveWithoutCalls(false)
                .maxInboundMessageSize(LARGEST_ANSWER)
                .executorService(new SameThread())
                .interceptor(new Limit(timeout.plus(timeout), new AtomicBoolean()));
        if (!user.isEmpty()) {
            builder.user(Keys.bytes(user.get(0))).password(Keys.bytes(user.get(1)));
        }
        if (tls) {
            try {
                builder.sslContext(context -> {
                    cacert.ifPresent(context::trustManager);
                    cert.ifPresent(own -> context.keyManager(own, key.orElseThrow()));
                });
            } catch (SSLException | IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        "cacert, cert or key of the etcds: URL names a file that is not what it says: "
                                + e.getMessage(),
                        e);
            }
        }
        return builder.build();
    }

    /**
     * jetcd sends each request on a thread of an executor, by default of a pool. Sending never waits, so that the change of
     * threads can be left out. The gRPC context of the caller is left out too: it may end before the request does.
     */
    private static final class SameThread extends AbstractExecutorService {
        @Override
        public void execute(Runnable task) {
            Context.ROOT.run(task);
        }

        @Override
        public void shutdown() {}

        @Override
        public List<Runnable> shutdownNow() {
            return List.of();
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return true;
        }
    }

    /** Ends each call that has one answer, but the first: the JVM may load gRPC for longer. A watch goes on. */
    private record Limit(Duration timeout, AtomicBoolean loaded) implements ClientInterceptor {
        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
            boolean goesOn = "Watch".equals(method.getBareMethodName()) || loaded.compareAndSet(false, true);
            return next.newCall(
                    method, goesOn ? options : options.withDeadlineAfter(timeout.toNanos(), TimeUnit.NANOSECONDS));
        }
    }

    private EtcdUrl with(String name, String value) {
        return switch (name) {
            case "timeout" -> new EtcdUrl(tls, hosts, user, prefix, time(value), cacert, cert, key);
            case "cacert" -> new EtcdUrl(tls, hosts, user, prefix, timeout, file(name, value), cert, key);
            case "cert" -> new EtcdUrl(tls, hosts, user, prefix, timeout, cacert, file(name, value), key);
            case "key" -> new EtcdUrl(tls, hosts, user, prefix, timeout, cacert, cert, file(name, value));
            default ->
                throw new IllegalArgumentException("an etcd URL takes the parameters timeout, cacert, cert and key, and"
                        + " no other; " + GOOD_URLS);
        };
    }

    private static boolean isPort(@Nullable String number) {
        return number == null || (Integer.parseInt(number) > 0 && Integer.parseInt(number) <= HIGHEST_PORT);
    }

    private static String prefix(@Nullable String path) {
        String prefix = path == null ? "" : decode(path).replaceAll("/+$", "");
        if (prefix.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException("the prefix of an etcd URL has no control characters; " + GOOD_URLS);
        }
        return prefix;
    }

    private static List<String> user(@Nullable String userInfo, Optional<String> password) {
        if (userInfo == null) {
            return List.of();
        }
        int colon = userInfo.indexOf(':');
        String user = decode(colon < 0 ? userInfo : userInfo.substring(0, colon));
        String inUrl = colon < 0 ? "" : decode(userInfo.substring(colon + 1));
        String secret = inUrl.isEmpty() ? password.orElse("") : inUrl;
        if (user.isEmpty() || secret.isEmpty()) {
            throw new IllegalArgumentException("an etcd URL with a user names user and password, as in"
                    + " etcd://user:password@host, or has the password beside the URL (HOLDFAST_PASSWORD on the command"
                    + " line)");
        }
        return List.of(user, secret);
    }

    private static Duration time(String text) {
        Matcher time = TIME.matcher(text);
        if (!time.matches() || Long.parseLong(time.group(1)) == 0) {
            throw new IllegalArgumentException("timeout is a time such as 500ms or 5s, not '" + text + "'");
        }
        long amount = Long.parseLong(time.group(1));
        Duration duration = switch (time.group(2)) {
            case "ms" -> Duration.ofMillis(amount);
            case "s" -> Duration.ofSeconds(amount);
            default -> Duration.ofMinutes(amount);
        };
        if (duration.compareTo(Duration.ofHours(1)) > 0) {
            throw new IllegalArgumentException("timeout is an hour at most, not '" + text + "'");
        }
        return duration;
    }

    private static Optional<File> file(String name, String path) {
        File file = new File(path);
        if (!file.isFile()) {
            throw new IllegalArgumentException(name + " names a file that is not there: " + path);
        }
        return Optional.of(file);
    }

    private static String decode(String text) {
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), UTF_8);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "a % in an etcd URL is followed by two hexadecimal digits; " + GOOD_URLS);
        }
    }
}
