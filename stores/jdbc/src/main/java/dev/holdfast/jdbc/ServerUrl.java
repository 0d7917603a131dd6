package dev.holdfast.jdbc;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The JDBC URL of a server, without the parameters that are ours. It may hold a password and is never shown.
 *
 * @param dialect of the database
 * @param jdbcUrl for the driver
 * @param options what our parameters said
 * @param sessions whether locks end with their session, rather than with a lease
 */
record ServerUrl(ServerDialect dialect, String jdbcUrl, JdbcOptions options, boolean sessions) {
    static final String GOOD_URLS = "jdbc:postgresql://HOST/DATABASE, jdbc:mariadb://HOST/DATABASE,"
            + " jdbc:mysql://HOST/DATABASE, jdbc:h2:PATH; for a SQLite file, sqlite:PATH";

    /** H2 has modes of its own. */
    private static final Pattern MODE = Pattern.compile("([?&;])(?:holdfast\\.)?mode=([^&;]*)");

    private static final List<String> MODES = List.of("lease", "session");
    private static final Pattern OURS = Pattern.compile("([?&;])holdfast\\.(\\w+)=([^&;]*)");
    /** A URL of another form shows only its database: a secret may be anywhere in it. */
    private static final Pattern SHOWN =
            Pattern.compile("(jdbc:(?:h2:tcp|h2:ssl|\\w+)://)(" + UrlForm.HOSTS + "(?:/[\\w.%~-]*)*)(?:[?;].*)?");

    private static final Pattern SHOWN_PATH = Pattern.compile("(jdbc:h2:(?:mem:|file:)?[^:;?@]*)(?:;.*)?");
    private static final Pattern PASSWORD = Pattern.compile("(?i)[?&;]password=");
    private static final int LONGEST_SHOWN = 120;

    /** Empty if it is the URL of no server that is known. */
    static Optional<ServerUrl> parse(String url) {
        String lower = url.toLowerCase(Locale.ROOT);
        return ServerDialects.all().stream()
                .filter(dialect -> dialect.names().stream().anyMatch(name -> lower.startsWith("jdbc:" + name + ":")))
                .findFirst()
                .map(dialect -> withMode(dialect, UrlForm.checked(url)));
    }

    private static ServerUrl withMode(ServerDialect dialect, String url) {
        Matcher mode = MODE.matcher(url);
        boolean ours = mode.find()
                && (MODES.contains(mode.group(2))
                        || !url.toLowerCase(Locale.ROOT).startsWith("jdbc:h2:"));
        if (!ours) {
            return withOptions(dialect, url, false);
        }
        if (!MODES.contains(mode.group(2))) {
            throw new IllegalArgumentException(
                    "there is no mode '" + mode.group(2) + "'; mode is one of " + String.join(", ", MODES));
        }
        String rest = url.substring(0, mode.start()) + url.substring(mode.end());
        Matcher second = MODE.matcher(url.substring(mode.end()));
        if (second.find() && MODES.contains(second.group(2))) {
            throw new IllegalArgumentException("the URL names mode twice; leave one of them out");
        }
        boolean wasFirst = mode.group(1).equals("?") && mode.end() < url.length();
        String plain = wasFirst ? url.substring(0, mode.start()) + "?" + url.substring(mode.end() + 1) : rest;
        return withOptions(dialect, plain, mode.group(2).equals("session"));
    }

    private static ServerUrl withOptions(ServerDialect dialect, String url, boolean sessions) {
        JdbcOptions options = JdbcOptions.defaults();
        StringBuilder rest = new StringBuilder();
        List<String> unknown = new ArrayList<>();
        Matcher ours = OURS.matcher(url);
        boolean first = false;
        while (ours.find()) {
            first |= ours.group(1).equals("?");
            ours.appendReplacement(rest, "");
            options = with(options, ours.group(2), ours.group(3), unknown);
        }
        ours.appendTail(rest);
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException("there is no parameter holdfast." + unknown.get(0)
                    + "; there are holdfast.schema, holdfast.table, holdfast.createTable, holdfast.connections,"
                    + " holdfast.unlogged");
        }
        if (sessions && options.unlogged()) {
            throw new IllegalArgumentException(
                    "the URL has mode=session and holdfast.unlogged=true, and there are no such"
                            + " locks; leave one of them out");
        }
        String plain = rest.toString();
        if (first && plain.indexOf('?') < 0) {
            plain = plain.replaceFirst("&", "?");
        }
        return new ServerUrl(dialect, plain, options, sessions);
    }

    private static JdbcOptions with(JdbcOptions options, String name, String value, List<String> unknown) {
        return switch (name) {
            case "schema" -> options.schema(value);
            case "table" -> options.table(value);
            case "createTable" -> options.createTable(truth(name, value));
            case "unlogged" -> options.unlogged(truth(name, value));
            case "connections" -> options.connections(number(value));
            default -> {
                unknown.add(name);
                yield options;
            }
        };
    }

    private static boolean truth(String name, String value) {
        if (!List.of("true", "false").contains(value)) {
            throw new IllegalArgumentException("holdfast." + name + " is true or false");
        }
        return value.equals("true");
    }

    private static int number(String value) {
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("holdfast.connections is a number", e);
        }
    }

    /** Database, host and schema: what people recognise it by, and no secret. */
    String description() {
        Matcher server = SHOWN.matcher(jdbcUrl);
        Matcher file = SHOWN_PATH.matcher(jdbcUrl);
        String shown = server.matches()
                ? server.group(1) + server.group(2)
                : file.matches() ? file.group(1) : "jdbc:" + dialect.names().get(0) + ":…";
        return shown.length() <= LONGEST_SHOWN ? shown : shown.substring(0, LONGEST_SHOWN) + "…";
    }

    /** The driver properties in addition to the URL. One that the URL sets is left out: H2 refuses a property set in both. */
    static Properties properties(Map<String, String> more, Optional<String> password, String url) {
        Properties properties = new Properties();
        String lower = url.toLowerCase(Locale.ROOT);
        more.forEach((key, value) -> {
            if (!lower.matches(".*[?&;]" + key.toLowerCase(Locale.ROOT) + "=.*")) {
                properties.setProperty(key, value);
            }
        });
        if (!PASSWORD.matcher(url).find()) { // not sslpassword=
            password.ifPresent(secret -> properties.setProperty("password", secret));
        }
        return properties;
    }
}
