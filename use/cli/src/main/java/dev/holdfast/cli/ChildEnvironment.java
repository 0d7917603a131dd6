package dev.holdfast.cli;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the command sees: our environment, and its hold. Without the store's password: the command needs the token, not
 * the store, and an environment goes on to everything that it starts. And in the locale of its user, where the launcher
 * gave us one that can read all arguments.
 */
final class ChildEnvironment {
    /** Set by the launcher when it changed LC_ALL: empty if that was not set before, else = and its value. */
    private static final String LOCALE_BEFORE = "HOLDFAST_LC_ALL_BEFORE";

    private static final String LOCALE = "LC_ALL";

    /** Set by the launcher, to this value, if it was not set before. */
    private static final String JVM_SIGNAL = "_JAVA_SR_SIGNUM";

    private static final String OF_THE_LAUNCHER = "50";

    private ChildEnvironment() {}

    /** Turns our environment into the command's. */
    static void prepare(Map<String, String> environment, Map<String, String> hold) {
        environment.remove(StoreUrl.PASSWORD_VARIABLE);
        environment.remove(LauncherStart.VARIABLE);
        environment.remove(JVM_SIGNAL, OF_THE_LAUNCHER);
        @Nullable String locale = environment.remove(LOCALE_BEFORE);
        if (locale != null) {
            environment.remove(LOCALE);
        }
        if (locale != null && !locale.isEmpty()) {
            environment.put(LOCALE, locale.substring(1));
        }
        environment.putAll(hold);
    }
}
