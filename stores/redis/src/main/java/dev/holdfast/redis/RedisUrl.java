package dev.holdfast.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lettuce.core.RedisURI;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A URL of Redis, taken apart.
 *
 * <pre>
 *   redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]           one server
 *   redis-sentinel://…HOST[:PORT],HOST…/MASTER[/DATABASE]      the master that Sentinels name
 *   redis-cluster://…HOST[:PORT],HOST…                         a cluster, some of whose nodes are named
 *   quorum:redis://…HOST[:PORT],redis://…,redis://…            independent servers, an odd number of three or more
 * </pre>
 *
 * <p>With {@code rediss} in place of {@code redis}, TLS. In user and password, characters with a meaning in URLs are
 * written as {@code %40}.
 *
 * @param servers for Lettuce; the nodes of a cluster, the members of a quorum, otherwise one
 * @param timeout how long a request may take
 * @param cacert a file with the only certificates to trust; null for those the JVM trusts
 * @param acks how many replicas must confirm a grant; 0 for none
 */
record RedisUrl(
        Kind kind,
        List<RedisURI> servers,
        Duration timeout,
        @Nullable File cacert,
        int acks) {
    /** How many servers there are, and how they belong together. */
    enum Kind {
        SINGLE,
        SENTINEL,
        CLUSTER,
        QUORUM
    }

    static final Duration TIMEOUT = Duration.ofSeconds(5);

    private static final String TLS = "rediss";
    private static final int PORT = 6379;
    private static final int SENTINEL_PORT = 26_379;
    private static final int HIGHEST_PORT = 65_535;
    private static final String GOOD_URLS = "write redis://127.0.0.1:6379, rediss://user:password@host:6379/0,"
            + " redis-sentinel://host1,host2,host3/master, redis-cluster://host1,host2 or"
            + " quorum:redis://host1,redis://host2,redis://host3";
    private static final Pattern TIME = Pattern.compile("(\\d{1,7})(ms|s)");
    private static final Pattern ACKS = Pattern.compile("\\d{1,2}");
    static final String QUORUM = "quorum:";
    private static final int FEWEST_MEMBERS = 3;
    private static final Pattern ONE = Pattern.compile("rediss?://", Pattern.CASE_INSENSITIVE);

    /** Scheme, kind, log-in, hosts, path, query. */
    private static final Pattern MANY = Pattern.compile(
            "(rediss?)-(sentinel|cluster)://([^@/?#]*@)?([^@/?#]*)(/[^@?#]*)?(\\?[^#]*)?", Pattern.CASE_INSENSITIVE);

    private static final Pattern OF_MANY = Pattern.compile("rediss?-\\w+:", Pattern.CASE_INSENSITIVE);
    /** Log-in, host, port. A host may be any name of DNS or of a file of hosts: {@link URI} knows no underscore. */
    private static final Pattern AUTHORITY =
            Pattern.compile("(?:([^@]*)@)?(?:([\\w.-]+)|\\[([\\w.:%]+)])(?::(\\d{0,5}))?");

    private static final Pattern MASTER = Pattern.compile("/([^/]+)(/.*)?");

    /** Parses it; no message shows a part of it that may be secret. */
    static RedisUrl parse(String url, Optional<String> password) {
        if (url.regionMatches(true, 0, QUORUM, 0, QUORUM.length())) {
            return quorum(url.substring(QUORUM.length()), password);
        }
        Matcher many = MANY.matcher(url);
        if (!many.matches()) {
            if (OF_MANY.matcher(url).lookingAt()) {
                throw new IllegalArgumentException("not a URL of Redis Sentinels or of a Redis Cluster; " + GOOD_URLS
                        + "; in user and password write @ as %40, / as %2F, : as %3A");
            }
            return parseOne(url, PORT, password);
        }
        return many.group(2).equalsIgnoreCase("cluster") ? cluster(many, password) : sentinel(many, password);
    }

    /** Members are whole URLs of one server each; the parameters follow the last one, and apply to all. */
    private static RedisUrl quorum(String list, Optional<String> password) {
        int question = list.indexOf('?');
        String parameters = question < 0 ? "" : list.substring(question);
        String[] urls = list.substring(0, list.length() - parameters.length()).split(",", -1);
        for (String each : urls) {
            if (!ONE.matcher(each).lookingAt() || parameters.contains("://")) {
                throw new IllegalArgumentException(
                        "each member of a quorum is the URL of one server, redis:// or rediss://, and the parameters stand"
                                + " once behind the last; " + GOOD_URLS
                                + "; in user and password write a comma as %2C");
            }
        }
        List<RedisUrl> members = Arrays.stream(urls)
                .map(each -> parseOne(each + parameters, PORT, password))
                .toList();
        RedisUrl first = members.get(0);
        if (members.size() < FEWEST_MEMBERS || members.size() % 2 == 0) {
            throw new IllegalArgumentException("a quorum has 3, 5 or 7 members, an odd number, not " + members.size()
                    + ": one more than an odd number does not survive more failures");
        }
        if (members.stream().anyMatch(each -> each.uri().isSsl() != first.uri().isSsl())) {
            throw new IllegalArgumentException(
                    "the members of a quorum are all redis:// or all rediss://, so that none is reached less safely");
        }
        if (members.stream().map(each -> NodeAddress.of(each.uri())).distinct().count() < members.size()) {
            throw new IllegalArgumentException("a quorum names one server twice: each member must"
                    + " be a server of its own, whatever the database");
        }
        if (first.acks > 0) {
            throw new IllegalArgumentException(
                    "acks asks replicas to confirm a grant, and a quorum has none: its members do; leave acks out");
        }
        return new RedisUrl(Kind.QUORUM, members.stream().map(RedisUrl::uri).toList(), first.timeout, first.cacert, 0);
    }

    private static RedisUrl cluster(Matcher url, Optional<String> password) {
        String path = url.group(5);
        if (path != null && !path.equals("/") && !path.equals("/0")) {
            throw new IllegalArgumentException(
                    "a cluster has no databases but 0: leave the path of its URL out; " + GOOD_URLS);
        }
        List<RedisUrl> nodes = each(url, "", PORT, password);
        return new RedisUrl(
                Kind.CLUSTER,
                nodes.stream().map(RedisUrl::uri).toList(),
                nodes.get(0).timeout,
                nodes.get(0).cacert,
                nodes.get(0).acks);
    }

    private static RedisUrl sentinel(Matcher url, Optional<String> password) {
        Matcher path = MASTER.matcher(url.group(5) == null ? "" : url.group(5));
        if (!path.matches()) {
            throw new IllegalArgumentException("a URL of Sentinels names the master behind the hosts, as the Sentinels"
                    + " know it: redis-sentinel://host1,host2,host3/mymaster");
        }
        List<RedisUrl> sentinels = each(url, path.group(2) == null ? "" : path.group(2), SENTINEL_PORT, password);
        RedisUrl first = sentinels.get(0);
        RedisURI.Builder master = RedisURI.builder()
                .withSentinelMasterId(decode(path.group(1)))
                .withDatabase(first.uri().getDatabase())
                .withTimeout(first.timeout);
        for (RedisUrl sentinel : sentinels) {
            master.withSentinel(RedisURI.builder()
                    .withHost(sentinel.uri().getHost())
                    .withPort(sentinel.uri().getPort())
                    .withTimeout(first.timeout)
                    .build());
        }
        RedisURI made = master.withSsl(first.uri().isSsl()).build();
        made.applyAuthentication(first.uri());
        return new RedisUrl(Kind.SENTINEL, List.of(made), first.timeout, first.cacert, first.acks);
    }

    /** Each of the hosts as if it were the only one. */
    private static List<RedisUrl> each(Matcher url, String path, int port, Optional<String> password) {
        String before = url.group(1) + "://" + (url.group(3) == null ? "" : url.group(3));
        String after = path + (url.group(6) == null ? "" : url.group(6));
        return Arrays.stream(url.group(4).split(",", -1))
                .map(host -> parseOne(before + host + after, port, password))
                .toList();
    }

    private static RedisUrl parseOne(String url, int portUnlessGiven, Optional<String> password) {
        URI parsed = split(url);
        Matcher server = server(parsed);
        RedisURI.Builder uri = RedisURI.builder()
                .withHost(server.group(2) == null ? server.group(3) : server.group(2))
                .withPort(port(server.group(4), portUnlessGiven))
                .withDatabase(database(parsed))
                .withSsl(isTls(parsed));
        logIn(uri, server.group(1), password);
        Duration timeout = TIMEOUT;
        File cacert = null;
        int acks = 0;
        String query = parsed.getRawQuery() == null ? "" : parsed.getRawQuery();
        for (String parameter : query.isEmpty() ? new String[0] : query.split("&", -1)) {
            String name = parameter.substring(0, Math.max(0, parameter.indexOf('=')));
            String value = decode(parameter.substring(parameter.indexOf('=') + 1));
            switch (name) {
                case "timeout" -> timeout = duration(value);
                case "cacert" -> cacert = certificates(value, isTls(parsed));
                case "acks" -> acks = acks(value);
                default ->
                    throw new IllegalArgumentException(
                            "a Redis URL takes the parameters timeout, cacert and acks, and no other; " + GOOD_URLS);
            }
        }
        RedisURI made = uri.withTimeout(timeout).build();
        return new RedisUrl(Kind.SINGLE, List.of(made), timeout, cacert, acks);
    }

    /** The server; of a cluster, the first node that was named. */
    RedisURI uri() {
        return servers.get(0);
    }

    /** The store as messages name it: without user and password. */
    String description() {
        String scheme = uri().isSsl() ? TLS : "redis";
        return switch (kind) {
            case SINGLE -> describe(uri());
            case QUORUM -> servers.stream().map(RedisUrl::describe).collect(Collectors.joining(",", QUORUM, ""));
            case CLUSTER -> scheme + "-cluster://" + hosts(servers);
            case SENTINEL ->
                scheme + "-sentinel://" + hosts(uri().getSentinels()) + "/" + uri().getSentinelMasterId()
                        + databaseOf(uri());
        };
    }

    private static String hosts(List<RedisURI> servers) {
        return servers.stream().map(each -> NodeAddress.of(each).toString()).collect(Collectors.joining(","));
    }

    static String describe(RedisURI uri) {
        return (uri.isSsl() ? TLS : "redis") + "://" + NodeAddress.of(uri) + databaseOf(uri);
    }

    private static String databaseOf(RedisURI uri) {
        return uri.getDatabase() == 0 ? "" : "/" + uri.getDatabase();
    }

    private static URI split(String url) {
        try {
            return new URI(url);
        } catch (URISyntaxException e) {
            // not e.getMessage(), not even as the cause: it shows the URL
            throw new IllegalArgumentException("not a URL of a Redis server; " + GOOD_URLS
                    + "; in user and password write @ as %40, / as %2F, : as %3A");
        }
    }

    private static Matcher server(URI parsed) {
        Matcher server = AUTHORITY.matcher(parsed.getRawAuthority() == null ? "" : parsed.getRawAuthority());
        if (!server.matches() || parsed.getRawFragment() != null) {
            throw new IllegalArgumentException("a Redis URL names one host, and nothing after '#'; " + GOOD_URLS);
        }
        return server;
    }

    private static boolean isTls(URI parsed) {
        return TLS.equalsIgnoreCase(parsed.getScheme());
    }

    private static int port(@Nullable String given, int unlessGiven) {
        int port = given == null || given.isEmpty() ? unlessGiven : Integer.parseInt(given);
        if (port == 0 || port > HIGHEST_PORT) {
            throw new IllegalArgumentException("the port of a Redis URL is 1 to " + HIGHEST_PORT + "; " + GOOD_URLS);
        }
        return port;
    }

    private static int database(URI parsed) {
        String path = parsed.getRawPath() == null ? "" : parsed.getRawPath();
        if (path.isEmpty() || path.equals("/")) {
            return 0;
        }
        if (!path.matches("/\\d{1,9}")) {
            throw new IllegalArgumentException("the path of a Redis URL is the number of a database; " + GOOD_URLS);
        }
        return Integer.parseInt(path.substring(1));
    }

    private static void logIn(RedisURI.Builder uri, @Nullable String userInfo, Optional<String> password) {
        int colon = userInfo == null ? -1 : userInfo.indexOf(':');
        String user = userInfo == null ? "" : decode(colon < 0 ? userInfo : userInfo.substring(0, colon));
        String inUrl = userInfo == null || colon < 0 ? "" : decode(userInfo.substring(colon + 1));
        String secret = inUrl.isEmpty() ? password.orElse("") : inUrl;
        if (secret.isEmpty() && !user.isEmpty()) {
            throw new IllegalArgumentException("a Redis URL with a user needs a password, as in"
                    + " redis://user:password@host, or one beside the URL (HOLDFAST_PASSWORD on the command line)");
        }
        if (!user.isEmpty()) {
            uri.withAuthentication(user, secret.toCharArray());
        } else if (!secret.isEmpty()) {
            uri.withPassword(secret.toCharArray());
        }
    }

    private static Duration duration(String text) {
        Matcher time = TIME.matcher(text);
        if (!time.matches() || Long.parseLong(time.group(1)) == 0) {
            throw new IllegalArgumentException("timeout is a time such as 500ms or 5s, not '" + text + "'");
        }
        long amount = Long.parseLong(time.group(1));
        return time.group(2).equals("s") ? Duration.ofSeconds(amount) : Duration.ofMillis(amount);
    }

    private static int acks(String text) {
        if (!ACKS.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    "acks is the number of replicas that confirm a grant, such as 1, not '" + text + "'");
        }
        return Integer.parseInt(text);
    }

    private static File certificates(String path, boolean tls) {
        if (!tls) {
            throw new IllegalArgumentException("cacert is for TLS: write rediss:// instead of redis://");
        }
        File file = new File(path);
        if (!file.isFile()) {
            throw new IllegalArgumentException("cacert names a file of certificates that is not there: " + path);
        }
        try (InputStream pem = new FileInputStream(file)) {
            if (!CertificateFactory.getInstance("X.509")
                    .generateCertificates(pem)
                    .isEmpty()) {
                return file;
            }
        } catch (CertificateException e) {
            // reported below
        } catch (IOException e) {
            throw new IllegalArgumentException("cacert names a file that cannot be read: " + path, e);
        }
        throw new IllegalArgumentException("cacert names a file with no certificate in it (PEM): " + path);
    }

    private static String decode(String text) {
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), UTF_8);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "a % in a Redis URL is followed by two hexadecimal digits; " + GOOD_URLS);
        }
    }
}
