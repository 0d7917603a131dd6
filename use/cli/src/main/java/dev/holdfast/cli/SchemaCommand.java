package dev.holdfast.cli;

import dev.holdfast.jdbc.JdbcFence;
import dev.holdfast.jdbc.JdbcOptions;
import dev.holdfast.jdbc.JdbcSchema;
import dev.holdfast.sqlite.SqliteSchema;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code holdfast schema}: what somebody who looks after a database has to know and to run. */
@Command(
        name = "schema",
        description = "Prints the SQL, the rights and the connections that a database needs.",
        sortOptions = false,
        usageHelpAutoWidth = true,
        footer = {
            "",
            "Examples:",
            "  holdfast schema sqlite",
            "  holdfast schema sqlite | sqlite3 /var/lib/holdfast/locks.db"
        })
final class SchemaCommand implements Callable<Integer> {
    private static final String SQLITE = "sqlite";

    /** What there is, for the help and for completion. */
    static final class Dialects implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return all().iterator();
        }

        static List<String> all() {
            return Stream.concat(Stream.of(SQLITE), JdbcSchema.dialects().stream())
                    .toList();
        }
    }

    @Parameters(
            arity = "1",
            paramLabel = "DIALECT",
            hideParamSyntax = true,
            completionCandidates = Dialects.class,
            description = "One of: ${COMPLETION-CANDIDATES}.")
    private String dialect = "";

    @Option(names = "--fence", description = "The table of fences instead, for 'holdfast fence' and JdbcFence.")
    private boolean fence;

    @Option(names = "--unlogged", description = "The tables of holdfast.unlogged=true, on PostgreSQL.")
    private boolean unlogged;

    @Override
    public Integer call() {
        List<String> known = Dialects.all();
        String name = dialect.toLowerCase(Locale.ROOT);
        if (!known.contains(name)) {
            throw new CliException(
                    ExitCode.USAGE,
                    "'" + dialect + "': no schema is known for that database; known: " + String.join(", ", known));
        }
        System.out.print(script(name));
        return ExitCode.OK;
    }

    private String script(String name) {
        if (fence) {
            return JdbcFence.inTable("holdfast_fence").script(name);
        }
        if (unlogged) {
            return unlogged(name);
        }
        return name.equals(SQLITE) ? SqliteSchema.script() : JdbcSchema.script(name);
    }

    private static String unlogged(String name) {
        if (!name.equals("postgresql")) {
            throw new CliException(ExitCode.USAGE, "'" + name + "': only postgresql has unlogged tables");
        }
        return JdbcSchema.script(name, JdbcOptions.defaults().unlogged(true));
    }
}
