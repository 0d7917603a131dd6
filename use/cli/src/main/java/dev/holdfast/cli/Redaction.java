package dev.holdfast.cli;

import dev.holdfast.spi.Redacted;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Takes the secrets of this command out of text that people will see. They are known by value: the password of the
 * environment, and what {@link SafeUrl} finds in the URLs that were given. So it does not matter who cut them out of where,
 * a driver in its log for instance. Thread-safe.
 */
final class Redaction {
    /** One of a letter or two is a part of every message; nobody is helped when those are cut to pieces. */
    private static final int SHORTEST_SECRET = 4;

    private static final String MASK = "***";

    /** What is replaced, the longest first, and by what. */
    private static final Map<String, String> REPLACED = new ConcurrentSkipListMap<>(
            Comparator.comparingInt(String::length).reversed().thenComparing(Comparator.naturalOrder()));

    private Redaction() {}

    /** Learns the secrets of the environment and of the URLs among the arguments. */
    static void learn(List<String> arguments, Map<String, String> environment) {
        String password = environment.getOrDefault(StoreUrl.PASSWORD_VARIABLE, "");
        if (password.length() >= SHORTEST_SECRET) {
            REPLACED.put(password, MASK);
        }
        urls(arguments, environment).forEach(Redaction::learn);
    }

    /** Learns the secrets of a URL. */
    static void learn(String url) {
        Set<String> secrets = SafeUrl.secrets(url);
        secrets.forEach(secret -> REPLACED.put(secret, MASK));
        if (!secrets.isEmpty()) {
            REPLACED.put(url, SafeUrl.shown(url));
        }
    }

    /** The store of the option and of the environment, and what looks like one behind an option with a slip of the pen. */
    private static Set<String> urls(List<String> arguments, Map<String, String> environment) {
        Set<String> urls = new LinkedHashSet<>();
        String before = "";
        for (String argument : arguments) {
            String value = argument.startsWith("-") ? argument.substring(argument.indexOf('=') + 1) : argument;
            boolean isStore = before.equals(HoldfastCommand.STORE) || argument.startsWith(HoldfastCommand.STORE + "=");
            boolean isMistyped = argument.startsWith("-") && value.indexOf(':') >= 0;
            if (isStore || isMistyped || looksLikeUrl(value)) {
                urls.add(value);
            }
            before = argument;
        }
        String variable = environment.getOrDefault(StoreUrl.VARIABLE, "");
        if (!variable.isEmpty()) {
            urls.add(variable);
        }
        return urls;
    }

    private static boolean looksLikeUrl(String value) {
        return value.contains("://")
                || value.matches("(?is)(rediss?(-sentinel|-cluster)?|zk|etcds?|memcached|jdbc|sqlite)[:/].*");
    }

    /** A text of others, a driver's say, on one line, without secrets and whatever else looks like one. */
    static String oneLine(String text) {
        return Printable.text(Redacted.text(byValue(text)));
    }

    /** A text of our own on one line: its advice may show what a URL with a password looks like. */
    static String ours(String text) {
        return Printable.oneLine(byValue(text));
    }

    private static String byValue(String text) {
        String bare = text;
        for (Map.Entry<String, String> each : REPLACED.entrySet()) {
            bare = Pattern.compile(Pattern.quote(each.getKey()), Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE)
                    .matcher(
                            bare) // H2 writes the names of parameters in capitals, and takes a part of a secret for one
                    .replaceAll(Matcher.quoteReplacement(each.getValue()));
        }
        return bare;
    }
}
