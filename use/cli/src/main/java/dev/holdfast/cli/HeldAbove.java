package dev.holdfast.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A lock under which a process was started, as {@code holdfast run} tells it by variables.
 *
 * @param name the lock
 * @param token of the hold
 */
record HeldAbove(String name, long token) {
    private static final long TOKENS_PER_GRANT = 1024;

    /** Whether the hold belongs to the grant whose lowest token this is. */
    boolean isOf(long lowest) {
        return token >= lowest && token < lowest + TOKENS_PER_GRANT;
    }

    /** Those of a process of this machine; none where its environment cannot be read, as on other systems than Linux. */
    static List<HeldAbove> of(long pid) {
        String names = "";
        String tokens = "";
        try {
            String entries = new String(
                    Files.readAllBytes(Path.of("/proc", Long.toString(pid), "environ")), StandardCharsets.UTF_8);
            for (String entry : entries.split("\0")) {
                if (entry.startsWith("HOLDFAST_NAME=")) {
                    names = value(entry);
                } else if (entry.startsWith("HOLDFAST_TOKEN=")) {
                    tokens = value(entry);
                }
            }
        } catch (IOException e) {
            return List.of();
        }
        return of(names, tokens);
    }

    /** That of this process; none if it was not started under one. */
    static List<HeldAbove> ofThisProcess() {
        return of(
                System.getenv().getOrDefault("HOLDFAST_NAME", ""),
                System.getenv().getOrDefault("HOLDFAST_TOKEN", ""));
    }

    private static List<HeldAbove> of(String allNames, String allTokens) {
        String[] names = allNames.split("\n");
        String[] tokens = allTokens.split("\n");
        List<HeldAbove> found = new ArrayList<>();
        for (int i = 0; i < Math.min(names.length, tokens.length); i++) {
            if (tokens[i].matches("\\d{1,18}|[1-8]\\d{18}")) {
                found.add(new HeldAbove(names[i], Long.parseLong(tokens[i])));
            }
        }
        return found;
    }

    private static String value(String entry) {
        return entry.substring(entry.indexOf('=') + 1);
    }
}
