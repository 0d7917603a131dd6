package dev.holdfast.zookeeper;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.File;
import java.net.URLDecoder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ConfigException;
import org.apache.zookeeper.common.PathUtils;
import org.jspecify.annotations.Nullable;

/**
 * A URL of ZooKeeper servers, taken apart: {@code zk://[USER:PASSWORD@]HOST[:PORT],HOST[:PORT]…[/CHROOT]} with the
 * parameters {@code session}, {@code timeout}, {@code tick}, {@code disconnect} and {@code config}. In user and password,
 * characters with a meaning in URLs are written as {@code %40}.
 *
 * @param connectString servers and chroot
 * @param user {@code USER:PASSWORD} for the digest log-in
 * @param session the session time-out that is asked for; empty where the URL does not say
 * @param options the rest
 * @param config of ZooKeeper's client library, TLS above all
 */
record ZooKeeperUrl(
        String connectString,
        Optional<String> user,
        Optional<Duration> session,
        ZooKeeperOptions options,
        Optional<ZKClientConfig> config) {
    private static final Duration SESSION = Duration.ofSeconds(15);
    private static final Duration SHORTEST_SESSION = Duration.ofSeconds(2);
    private static final String GOOD_URLS =
            "write zk://host1:2181,host2:2181,host3:2181 or zk://user:password@host:2181/chroot?session=15s";
    private static final Pattern URL =
            Pattern.compile("zk://(?:([^@/?#]*)@)?([^@/?#]+)(/[^@?#]*)?(?:\\?([^#]*))?", Pattern.CASE_INSENSITIVE);
    private static final Pattern HOSTS = Pattern.compile("(?:[\\w.-]+|\\[[0-9A-Fa-f:.%]+])(?::(\\d{1,5}))?");
    private static final int HIGHEST_PORT = 65_535;
    private static final Pattern TIME = Pattern.compile("(\\d{1,7})(ms|s|m)");

    /** Parses it; no message shows anything of it that may be secret. */
    static ZooKeeperUrl parse(String url, Optional<String> password) {
        Matcher parts = URL.matcher(url);
        if (!parts.matches()) {
            throw new IllegalArgumentException("not a URL of ZooKeeper servers; " + GOOD_URLS
                    + " (in user and password write @ as %40, / as %2F, : as %3A)");
        }
        for (String host : parts.group(2).split(",", -1)) {
            Matcher server = HOSTS.matcher(host);
            if (!server.matches() || !isPort(server.group(1))) {
                throw new IllegalArgumentException(
                        "a ZooKeeper URL names servers between commas, with ports from 1 to 65535; " + GOOD_URLS);
            }
        }
        ZooKeeperUrl plain = new ZooKeeperUrl(
                parts.group(2) + chroot(parts.group(3)),
                user(parts.group(1), password),
                Optional.empty(),
                ZooKeeperOptions.defaults(),
                Optional.empty());
        String query = parts.group(4) == null ? "" : parts.group(4);
        for (String parameter : query.isEmpty() ? new String[0] : query.split("&", -1)) {
            plain = plain.with(
                    parameter.substring(0, Math.max(0, parameter.indexOf('='))),
                    decode(parameter.substring(parameter.indexOf('=') + 1)));
        }
        return plain;
    }

    private static boolean isPort(@Nullable String number) {
        return number == null || (Integer.parseInt(number) > 0 && Integer.parseInt(number) <= HIGHEST_PORT);
    }

    /** As messages name the store: without user and password. */
    String description() {
        return "zk://" + connectString;
    }

    private ZooKeeperUrl with(String name, String value) {
        return switch (name) {
            case "session" -> withSession(Optional.of(time(name, value)));
            case "timeout" -> withOptions(options.timeout(time(name, value)));
            case "tick" -> withOptions(options.tick(time(name, value)));
            case "disconnect" -> withOptions(options.ridesOutDisconnects(rides(value)));
            case "config" -> new ZooKeeperUrl(connectString, user, session, options, Optional.of(read(value)));
            default ->
                throw new IllegalArgumentException("a ZooKeeper URL takes the parameters session, timeout, tick,"
                        + " disconnect and config, and no other; " + GOOD_URLS);
        };
    }

    /** The same, with a session of that length unless it names one; no shorter than a connection takes to come about. */
    ZooKeeperUrl sessionOr(Optional<Duration> other) {
        return session.isPresent()
                ? this
                : withSession(other.map(asked -> asked.compareTo(SHORTEST_SESSION) < 0 ? SHORTEST_SESSION : asked));
    }

    /** The time-out that the servers are asked for. */
    Duration sessionToAsk() {
        return session.orElse(SESSION);
    }

    private ZooKeeperUrl withSession(Optional<Duration> asked) {
        return new ZooKeeperUrl(connectString, user, asked, options, config);
    }

    private ZooKeeperUrl withOptions(ZooKeeperOptions other) {
        return new ZooKeeperUrl(connectString, user, session, other, config);
    }

    private static String chroot(@Nullable String path) {
        if (path == null || path.equals("/")) {
            return "";
        }
        String chroot = decode(path.endsWith("/") ? path.substring(0, path.length() - 1) : path);
        try {
            PathUtils.validatePath(chroot);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("the path of a ZooKeeper URL is that of a node: " + e.getMessage());
        }
        return chroot;
    }

    private static Optional<String> user(@Nullable String userInfo, Optional<String> password) {
        if (userInfo == null) {
            return Optional.empty();
        }
        int colon = userInfo.indexOf(':');
        String user = decode(colon < 0 ? userInfo : userInfo.substring(0, colon));
        String inUrl = colon < 0 ? "" : decode(userInfo.substring(colon + 1));
        String secret = inUrl.isEmpty() ? password.orElse("") : inUrl;
        if (user.isEmpty() || secret.isEmpty()) {
            throw new IllegalArgumentException("a ZooKeeper URL with a user names user and password, as in"
                    + " zk://user:password@host, or has the password beside the URL (HOLDFAST_PASSWORD on the command"
                    + " line)");
        }
        return Optional.of(user + ":" + secret);
    }

    private static Duration time(String name, String text) {
        Matcher time = TIME.matcher(text);
        if (!time.matches() || Long.parseLong(time.group(1)) == 0) {
            throw new IllegalArgumentException(name + " is a time such as 500ms or 15s, not '" + text + "'");
        }
        long amount = Long.parseLong(time.group(1));
        Duration duration = switch (time.group(2)) {
            case "ms" -> Duration.ofMillis(amount);
            case "s" -> Duration.ofSeconds(amount);
            default -> Duration.ofMinutes(amount);
        };
        if (duration.compareTo(Duration.ofDays(1)) > 0) {
            throw new IllegalArgumentException(name + " is a day at most, not '" + text + "'");
        }
        return duration;
    }

    private static boolean rides(String text) {
        return switch (text) {
            case "ride" -> true;
            case "doubt" -> false;
            default -> throw new IllegalArgumentException("disconnect is doubt or ride, not '" + text + "'");
        };
    }

    private static ZKClientConfig read(String path) {
        if (!new File(path).isFile()) {
            throw new IllegalArgumentException(
                    "config names a file of ZooKeeper client settings that is not there: " + path);
        }
        try {
            return new ZKClientConfig(Path.of(path));
        } catch (ConfigException e) {
            throw new IllegalArgumentException("config names a file that is not ZooKeeper client settings: " + path, e);
        }
    }

    private static String decode(String text) {
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), UTF_8);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "a % in a ZooKeeper URL is followed by two hexadecimal digits; " + GOOD_URLS);
        }
    }
}
