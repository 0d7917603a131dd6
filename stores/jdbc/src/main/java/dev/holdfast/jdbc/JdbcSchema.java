package dev.holdfast.jdbc;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * What each SQL server needs before it can keep locks, where no application may create tables.
 *
 * <pre>{@code
 * System.out.print(JdbcSchema.script("postgresql"));   // as 'holdfast schema postgresql' does
 * }</pre>
 *
 * <p>Nobody has to run it: where they may, stores create what is missing themselves. Thread-safe.
 */
public final class JdbcSchema {
    private static final List<ServerSchemaPage> PAGES =
            ServerDialects.all().stream().map(ServerSchemaPage::new).toList();

    private JdbcSchema() {}

    /** The databases that are known, by all their names. */
    public static List<String> dialects() {
        return PAGES.stream().flatMap(page -> page.names().stream()).toList();
    }

    /**
     * The tables as SQL, with the rights and the connections that a store needs as comments.
     *
     * @param dialect one of {@link #dialects}, in upper or lower case
     * @throws IllegalArgumentException if it is none; the message lists those there are
     */
    public static String script(String dialect) {
        return script(dialect, JdbcOptions.defaults());
    }

    /**
     * The same for tables that options name, and for an {@linkplain JdbcOptions#unlogged UNLOGGED} one.
     *
     * @param dialect one of {@link #dialects}, in upper or lower case
     * @param options where the tables are, and of which kind; the number of connections has no meaning here
     * @throws IllegalArgumentException if it is none; the message lists those there are
     * @throws dev.holdfast.UnsupportedByStoreException if the database has no tables of that kind
     */
    public static String script(String dialect, JdbcOptions options) {
        String name = dialect.toLowerCase(Locale.ROOT);
        return PAGES.stream()
                .filter(page -> page.names().contains(name))
                .map(page -> page.script(options))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no schema is known for that database; known: "
                        + dialects().stream().collect(Collectors.joining(", "))));
    }
}
