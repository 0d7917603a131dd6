package dev.holdfast.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.spi.support.Secrets;
import java.net.URLDecoder;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The form of a JDBC URL, and its secrets. Drivers print what they cannot read, such as the secret of
 * {@code //me:s3cret@host/db}, which they take for a port. So a URL with a log-in before the host is refused here,
 * and no driver sees it.
 */
final class UrlForm {
    private static final String HOST = "(?:[\\w.-]+|\\[[0-9A-Fa-f:.%]+])(?::\\d{1,5})?";
    static final String HOSTS = HOST + "(?:," + HOST + ")*";

    /** {@code address=(host=h)(port=1)} of MariaDB, {@code (host=h,port=1)} of MySQL. */
    private static final String ADDRESS = "(?:address=)?(?:\\(\\w+=[\\w.%-]*(?:,\\w+=[\\w.%-]*)*\\))+";

    private static final String ADDRESSES = ADDRESS + "(?:," + ADDRESS + ")*";

    /** No parameter's name has an @. */
    private static final String PARAMETERS = "(?:\\?(?!(?:.*&)?[^=&]*@).*)?";

    /** H2's prefixes of a path, or a drive of Windows; the path may have a colon or an @, not both. */
    private static final String H2_FILES = "(?:(?:mem|file|split|nio\\w*|async|zip|classpath|[a-z]|\\d+):)*";

    private static final String SETTINGS = "(?:;(?!(?:.*;)?[^=;]*@).*)?";

    /** A port is a number, and no path has an @ or a colon. PostgreSQL's driver logs a URL without a slash behind the servers. */
    private static final Pattern GOOD = Pattern.compile("(?i)jdbc:(?:h2:(?:(?:tcp|ssl)://" + HOSTS
            + "/[^@?;]*|(?!(?:tcp|ssl):)" + H2_FILES + "(?:[^:?;]*|[^@?;]*))" + SETTINGS
            + "|postgresql:(?://(?:" + HOSTS + ")?/[^@:?#;]*|[\\w.%~-]*)" + PARAMETERS
            + "|(?:mariadb|mysql):(?:\\w+:)?//(?:" + HOSTS + "|" + ADDRESSES + ")?(?:/[^@:?#;]*)?" + PARAMETERS + ")");

    private static final Pattern PARAMETER = Pattern.compile("[?&;(](?:([\\w.]*)=)?([^&;]*)");
    /** Parameters whose values are needed in messages, and never are secrets. */
    private static final Pattern PLAIN = Pattern.compile(
            "(?i)[?&;](?:(?:user|currentSchema|sslMode|mode|holdfast\\.schema|holdfast\\.table)=[\\w.-]*|[\\w.]+=(?:true|false))");

    /** Where a driver, another than the URL is for, might cut a value. */
    private static final Pattern CUTS = Pattern.compile("\\W+");

    private UrlForm() {}

    /** The URL itself, if it has the form of a URL of a server or of H2. */
    static String checked(String url) {
        if (!GOOD.matcher(url).matches()) {
            throw new IllegalArgumentException(
                    "not a JDBC URL with HOST:PORT of its servers and the log-in as parameters;"
                            + " write jdbc:mariadb://HOST:PORT/DATABASE?user=USER, and so for postgresql and mysql, or"
                            + " jdbc:h2:tcp://HOST:PORT/PATH;USER=USER; and the password as a parameter too, or beside the URL, as"
                            + " it is (HOLDFAST_PASSWORD on the command line)");
        }
        return url;
    }

    /** All values of parameters but those of {@link #PLAIN}: which of them are secrets, each driver knows for itself. */
    static Secrets secrets(String url, Optional<String> password) {
        Set<String> values = new HashSet<>(Set.of(url));
        password.ifPresent(values::add);
        for (Matcher each = PARAMETER.matcher(url); each.find(); ) {
            if (!PLAIN.matcher(each.group()).matches()) {
                values.addAll(List.of(each.group(2), decoded(each.group(2))));
                values.addAll(CUTS.splitAsStream(each.group(2)).toList());
            }
        }
        return Secrets.of(values);
    }

    private static String decoded(String value) {
        try {
            return URLDecoder.decode(value.replace("+", "%2B"), UTF_8);
        } catch (IllegalArgumentException e) {
            return value; // no encoding
        }
    }
}
