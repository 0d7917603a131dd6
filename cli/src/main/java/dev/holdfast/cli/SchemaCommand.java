package dev.holdfast.cli;

import dev.holdfast.jdbc.JdbcSchema;
import java.util.Iterator;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
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
    /** What there is, for the help and for completion. */
    static final class Dialects implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return JdbcSchema.dialects().iterator();
        }
    }

    @Parameters(
            arity = "1",
            paramLabel = "DIALECT",
            hideParamSyntax = true,
            completionCandidates = Dialects.class,
            description = "One of: ${COMPLETION-CANDIDATES}.")
    private String dialect = "";

    @Override
    public Integer call() {
        try {
            System.out.print(JdbcSchema.script(dialect));
        } catch (IllegalArgumentException e) {
            throw new CliException(ExitCode.USAGE, "'" + dialect + "': " + e.getMessage(), e);
        }
        return ExitCode.OK;
    }
}
