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
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A URL of one Redis server, taken apart: {@code redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE][?timeout=5s]},
 * {@code rediss://…[?cacert=FILE]} for TLS. In user and password, characters with a meaning in URLs are written as
 * {@code %40}.
 *
 * @param uri for Lettuce
 * @param timeout how long a request may take
 * @param cacert a file of certificates to trust beside nobody else; null for those the JVM trusts
 */
record RedisUrl(RedisURI uri, Duration timeout, @Nullable File cacert) {
    static final Duration TIMEOUT = Duration.ofSeconds(5);

    private static final String TLS = "rediss";
    private static final int PORT = 6379;
    private static final int HIGHEST_PORT = 65_535;
    private static final String GOOD_URLS = "write redis://127.0.0.1:6379 or rediss://user:password@host:6379/0";
    private static final Pattern TIME = Pattern.compile("(\\d{1,7})(ms|s)");

    /** Parses it; no message shows anything of it that may be secret. */
    static RedisUrl parse(String url, Optional<String> password) {
        URI parsed = split(url);
        RedisURI.Builder uri = RedisURI.builder()
                .withHost(host(parsed))
                .withPort(port(parsed))
                .withDatabase(database(parsed))
                .withSsl(isTls(parsed));
        logIn(uri, parsed.getRawUserInfo(), password);
        Duration timeout = TIMEOUT;
        File cacert = null;
        String query = parsed.getRawQuery() == null ? "" : parsed.getRawQuery();
        for (String parameter : query.isEmpty() ? new String[0] : query.split("&", -1)) {
            String name = parameter.substring(0, Math.max(0, parameter.indexOf('=')));
            String value = decode(parameter.substring(parameter.indexOf('=') + 1));
            switch (name) {
                case "timeout" -> timeout = duration(value);
                case "cacert" -> cacert = certificates(value, isTls(parsed));
                default ->
                    throw new IllegalArgumentException(
                            "a Redis URL takes the parameters timeout and cacert, and no other; " + GOOD_URLS);
            }
        }
        RedisURI made = uri.withTimeout(timeout).build();
        return new RedisUrl(made, timeout, cacert);
    }

    /** As messages name the store: without user and password. */
    String description() {
        return describe(uri);
    }

    static String describe(RedisURI uri) {
        String host = uri.getHost() != null && uri.getHost().indexOf(':') >= 0
                ? "[" + uri.getHost() + "]"
                : String.valueOf(uri.getHost());
        return (uri.isSsl() ? TLS : "redis") + "://" + host + ":" + uri.getPort()
                + (uri.getDatabase() == 0 ? "" : "/" + uri.getDatabase());
    }

    private static URI split(String url) {
        URI parsed;
        try {
            parsed = new URI(url);
        } catch (URISyntaxException e) {
            // not e.getMessage(), not even as the cause: it shows the URL
            throw new IllegalArgumentException("not a URL of a Redis server; " + GOOD_URLS
                    + "; in user and password write @ as %40, / as %2F, : as %3A");
        }
        if (parsed.getHost() == null || parsed.getRawFragment() != null) {
            throw new IllegalArgumentException("a Redis URL names one host, and nothing after '#'; " + GOOD_URLS);
        }
        return parsed;
    }

    private static boolean isTls(URI parsed) {
        return TLS.equalsIgnoreCase(parsed.getScheme());
    }

    private static String host(URI parsed) {
        String host = parsed.getHost();
        return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    }

    private static int port(URI parsed) {
        int port = parsed.getPort() < 0 ? PORT : parsed.getPort();
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
            // said below
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
