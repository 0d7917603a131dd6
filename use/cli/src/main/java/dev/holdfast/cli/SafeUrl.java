package dev.holdfast.cli;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What of a store's URL may be shown, and what never. Only a URL whose form is known from its first character to its last
 * shows anything but its scheme: in any other a secret may be anywhere.
 *
 * <pre>
 *   redis://me:s3cret@host:1/0?timeout=5s     redis://host:1/0        secrets: me:s3cret, s3cret
 *   redis://:my s3cret@host                   redis:…                 secrets: every word that could be one
 * </pre>
 */
final class SafeUrl {
    private static final String HOSTS =
            "((?:[\\w.-]+|\\[[0-9A-Fa-f:.%]+])(?::\\d{1,5})?" + "(?:,(?:[\\w.-]+|\\[[0-9A-Fa-f:.%]+])(?::\\d{1,5})?)*)";
    private static final String LOG_IN = "(?:[^@/?#,\\s]*@)?";

    /** Groups: what is shown before the log-in, and behind it. */
    private static final List<Pattern> KNOWN = List.of(
            form("(rediss?(?:-sentinel|-cluster)?://|zk://|etcds?://|memcached://)" + LOG_IN + "(" + HOSTS
                    + "(?:/[\\w./-]*)?)(?:\\?[^#@\\s]*)?"),
            form("(jdbc:(?:postgresql|mariadb|mysql)://)(" + HOSTS + "(?:/[\\w.%-]*)?)(?:\\?[^#@\\s]*)?"),
            form("(jdbc:h2:(?:tcp|ssl)://)(" + HOSTS + "/[\\w./~-]*)(?:;.*)?"),
            form("(jdbc:h2:(?:mem:|file:)?)([^:;?@]*)(?:;.*)?"),
            form("((?:jdbc:)?sqlite:)((?!//)(?!.*(?:://|:[^/]*@))[^?;]*)"));

    private static final Pattern SCHEME =
            Pattern.compile("(?i)(?:quorum|rediss?(?:-sentinel|-cluster)?|zk|etcds?|memcached|sqlite|mem"
                    + "|jdbc(?::(?:postgresql|mariadb|mysql|h2|sqlite))?):");
    /** Of a scheme that nobody knows, but which is told of. */
    private static final Pattern WORD_AS_SCHEME = Pattern.compile("^[A-Za-z]{1,20}://");

    private static final Pattern LOG_IN_PART =
            Pattern.compile("^(?:jdbc:)?(?:[A-Za-z][A-Za-z0-9+.-]*:)?/*(.*)@", Pattern.DOTALL);
    private static final Pattern PARAMETER = Pattern.compile("[?&;]([^=?&;]*)=([^&;]*)");
    private static final Pattern DELIMITERS = Pattern.compile("[/@:?&;=,#\\s'\"()]+");
    private static final Pattern PORT = Pattern.compile("\\d{1,5}");

    /** Parameters whose values help to understand a message; those of all others are hidden. */
    private static final Pattern HARMLESS_PARAMETER = Pattern.compile(
            "(?i)user|timeout|cacert|cert|key|session|tick|disconnect|config|acks|holdfast\\.\\w+|ssl|sslmode|usessl|write_delay|mode");

    /** Words of our own advice. */
    private static final Set<String> HARMLESS = Set.of(
            "redis",
            "rediss",
            "redis-sentinel",
            "rediss-sentinel",
            "redis-cluster",
            "redis-socket",
            "rediss-cluster",
            "quorum",
            "etcd",
            "etcds",
            "etcd3",
            "memcached",
            "prefix",
            "jdbc",
            "postgresql",
            "postgres",
            "mariadb",
            "mysql",
            "sqlite",
            "file",
            "host",
            "host1",
            "host2",
            "host3",
            "hosts",
            "user",
            "password",
            "localhost",
            "127.0.0.1",
            "path",
            "chroot",
            "database",
            "holdfast",
            "locks",
            "locks.db",
            "true",
            "false",
            "timeout",
            "session",
            "port",
            "address");

    private static final String QUORUM = "quorum:";
    private static final Pattern MEMBER = Pattern.compile("(?i)rediss?://");
    private static final int SHORTEST_SECRET = 4;
    private static final String HIDDEN = "…";

    private SafeUrl() {}

    private static Pattern form(String regex) {
        return Pattern.compile(regex, Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
    }

    /** The URL without its secrets; nothing but its scheme where its form is not known. */
    static String shown(String url) {
        List<String> members = members(url);
        if (!members.isEmpty()) {
            return members.stream().map(SafeUrl::shown).collect(Collectors.joining(",", QUORUM, ""));
        }
        Matcher known = known(url);
        if (known != null) {
            return known.group(1) + known.group(2);
        }
        Matcher scheme = SCHEME.matcher(url);
        return (scheme.lookingAt() ? scheme.group() : "") + HIDDEN;
    }

    /** The URLs of the members of a quorum; empty if it is none, or one of them has a form that is not known. */
    private static List<String> members(String url) {
        if (!url.regionMatches(true, 0, QUORUM, 0, QUORUM.length())) {
            return List.of();
        }
        List<String> urls = List.of(url.substring(QUORUM.length()).split(",", -1));
        boolean known = urls.stream().allMatch(each -> MEMBER.matcher(each).lookingAt() && known(each) != null);
        return known ? urls : List.of();
    }

    private static @Nullable Matcher known(String url) {
        return KNOWN.stream()
                .map(form -> form.matcher(url))
                .filter(Matcher::matches)
                .findFirst()
                .orElse(null);
    }

    /** What must not be shown wherever it turns up, however others cut the URL to pieces. */
    static Set<String> secrets(String url) {
        Set<String> found = new HashSet<>();
        List<String> members = members(url);
        if (!members.isEmpty()) {
            members.forEach(each -> found.addAll(secrets(each)));
            return found;
        }
        Matcher logIn = LOG_IN_PART.matcher(url);
        if (logIn.find()) {
            add(found, logIn.group(1));
            add(found, logIn.group(1).substring(logIn.group(1).indexOf(':') + 1));
        }
        for (Matcher parameter = PARAMETER.matcher(url); parameter.find(); ) {
            if (!HARMLESS_PARAMETER.matcher(parameter.group(1)).matches()) {
                add(found, parameter.group(2));
                pieces(found, parameter.group(2));
            }
        }
        if (known(url) == null) {
            pieces(found, WORD_AS_SCHEME.matcher(url).replaceFirst(""));
        }
        return found;
    }

    private static void pieces(Set<String> found, String text) {
        DELIMITERS
                .splitAsStream(text)
                .filter(piece -> !PORT.matcher(piece).matches())
                .forEach(piece -> add(found, piece));
    }

    private static void add(Set<String> found, String secret) {
        if (secret.length() >= SHORTEST_SECRET && !HARMLESS.contains(secret.toLowerCase(Locale.ROOT))) {
            found.add(secret);
            String decoded = decoded(secret);
            if (decoded.length() >= SHORTEST_SECRET) {
                found.add(decoded);
            }
        }
    }

    private static String decoded(String text) {
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return text;
        }
    }
}
