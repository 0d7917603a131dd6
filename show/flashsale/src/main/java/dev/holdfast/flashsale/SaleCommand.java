package dev.holdfast.flashsale;

import java.io.IOException;
import java.net.BindException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ./holdfast sale}. */
@Command(
        name = "holdfast sale",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Opens a ticket sale on several servers behind a balancer, and a page that shows it:",
            "choose what guards the orders, send buyers, stop or kill a server, and see what is sold twice.",
            "Ends on Ctrl-C, and removes what it has written."
        })
final class SaleCommand implements Callable<Integer> {
    private static final int USAGE = 64;
    private static final int UNAVAILABLE = 69;
    private static final int MOST_NODES = 8;

    @Option(
            names = "--store",
            paramLabel = "URL",
            defaultValue = "$" + "{env:HOLDFAST_STORE}",
            description =
                    "Where the locks are: redis://…, jdbc:postgresql:…, jdbc:mariadb:…, zk://…,"
                            + " etcd://…, memcached://…, sqlite:PATH."
                            + " Tickets and orders are in the same database, or else in a SQLite file. Default: a file of its own.")
    private @Nullable String store;

    @Option(
            names = "--nodes",
            paramLabel = "N",
            defaultValue = "2",
            description = "How many servers; 1 to 8, default 2.")
    private int nodes;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            defaultValue = "8090",
            description = "Where the page is, on 127.0.0.1; default 8090.")
    private int port;

    @Option(
            names = "--nginx",
            description = "Balances with nginx, if it is installed, by a generated configuration;"
                    + " default: with a balancer of its own.")
    private boolean withNginx;

    @Option(
            names = "--compare",
            description = "Opens no page: measures every guard of the store, prints a table, and ends;"
                    + " takes 2 to 6 minutes.")
    private boolean compare;

    /** Runs it. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new SaleCommand())
                .setExecutionExceptionHandler((failure, command, parsed) -> {
                    command.getErr().println("holdfast: " + failure.getMessage());
                    return UNAVAILABLE;
                })
                .setParameterExceptionHandler((failure, given) -> {
                    failure.getCommandLine()
                            .getErr()
                            .println("holdfast: " + failure.getMessage() + "; see holdfast sale --help");
                    return USAGE;
                })
                .execute(arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (nodes < 1 || nodes > MOST_NODES || port < 0 || port > 65_535) {
            System.err.println("holdfast: --nodes is 1 to " + MOST_NODES + ", --port 0 to 65535");
            return USAGE;
        }
        Path nginx = withNginx ? Nginx.find() : null;
        System.err.println("holdfast: starting " + nodes + " servers" + (nginx == null ? "" : " behind " + nginx));
        FlashSale sale = FlashSale.prepare(
                store == null || store.isBlank() ? null : store, compare ? 0 : port, nginx, System.err::println);
        // before anything is created in the database: Ctrl-C during the start leaves nothing behind either
        Runtime.getRuntime().addShutdownHook(new Thread(sale::close, "end"));
        try {
            sale.start(nodes);
        } catch (BindException taken) {
            System.err.println("holdfast: port " + port + " of 127.0.0.1 is taken, perhaps by another sale:"
                    + " end that, or choose another with --port");
            return UNAVAILABLE;
        }
        if (compare) {
            System.out.print(Comparison.table(new Comparison(sale, System.err::println)
                    .measure(sale.figures().guards())));
            return 0;
        }
        System.out.println("The sale is open at " + sale.address() + "  (Ctrl-C ends it)");
        new CountDownLatch(1).await();
        return 0;
    }
}
