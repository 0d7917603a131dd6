package dev.holdfast.cli;

import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** {@code holdfast} by itself: the options that all commands share. */
@Command(
        name = "holdfast",
        description = "Locks that processes on one or many machines share.",
        synopsisSubcommandLabel = "COMMAND",
        versionProvider = HoldfastCommand.Version.class,
        sortOptions = false,
        usageHelpAutoWidth = true,
        footer = {
            "",
            "Locks live in a store: --store, else $HOLDFAST_STORE, else a file of this user",
            "($XDG_STATE_HOME/holdfast/locks.db, or ~/.local/state/holdfast/locks.db).",
            "A password can be in $HOLDFAST_PASSWORD instead of in the URL.",
            "",
            "A checkout of the sources has three more: 'holdfast sale' opens a ticket sale on",
            "several servers in the browser; 'holdfast challenge' attacks locks and says what",
            "held; 'holdfast bench' measures Holdfast beside other libraries. Each has --help.",
            "",
            "Examples:",
            "  holdfast demo",
            "  holdfast run nightly-backup -- ./backup.sh --full",
            "  holdfast once --every 10m report -- ./report.sh",
            "  holdfast list",
            "  holdfast run --help"
        })
final class HoldfastCommand implements Callable<Integer> {
    static final String STORE = "--store";

    @Option(
            names = STORE,
            paramLabel = "URL",
            scope = ScopeType.INHERIT,
            description = {
                "Where the locks live, as sqlite:PATH, redis://HOST:PORT,",
                "redis-sentinel://HOST,HOST/MASTER, redis-cluster://HOST,HOST,",
                "quorum:redis://HOST,redis://HOST,redis://HOST,",
                "zk://HOST:PORT, etcd://HOST:PORT, memcached://HOST:PORT,",
                "or the jdbc: URL of a database."
            })
    private @Nullable String store;

    @Option(
            names = {"-v", "--verbose"},
            scope = ScopeType.INHERIT,
            description = "Say what caused an error, and what a store warns of.")
    private boolean verbose;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            scope = ScopeType.INHERIT,
            description = "Show this help.")
    @SuppressWarnings("unused") // picocli reads it
    private boolean help;

    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Show the version.")
    @SuppressWarnings("unused") // picocli reads it
    private boolean version;

    @Spec
    private @Nullable CommandSpec spec;

    boolean isVerbose() {
        return verbose;
    }

    StoreUrl store() {
        StderrLogger.tellCaveats(verbose);
        DriverLogs.tell(verbose);
        return StoreUrl.choose(store, System.getenv());
    }

    /** Whether a store was named, by the option or the environment. */
    boolean namesStore() {
        return !store().isDefault();
    }

    @Override
    public Integer call() {
        Objects.requireNonNull(spec).commandLine().usage(System.err);
        return ExitCode.USAGE;
    }

    /** Says which build this is, and on which Java. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = Main.class.getPackage().getImplementationVersion();
            return new String[] {
                "holdfast " + (version == null ? "(development)" : version) + " on Java "
                        + System.getProperty("java.version")
            };
        }
    }
}
