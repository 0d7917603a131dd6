package example;

import dev.holdfast.LockClient;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Sells 100 pieces to 8 buyers, each of whom tries 50 times, in each way. */
public class Sale {
    private static final int PIECES = 100;
    private static final String DATABASE =
            System.getenv().getOrDefault("DATABASE", "jdbc:postgresql://127.0.0.1:5432/stock?user=postgres");

    private interface Way {
        boolean sell(Connection database) throws Exception;
    }

    public static void main(String[] args) throws Exception {
        try (LockClient client = LockClient.connect(DATABASE)) {
            sell("read, then write", database -> Stock.readThenWrite(database, 1));
            int alone = sell("one statement, no lock", database -> Stock.oneStatement(database, 1));
            int locked = sell("under a lock", database -> Stock.underALock(client, database, 1));
            if (alone != PIECES || locked != PIECES) {
                throw new IllegalStateException("a way that should be right is not");
            }
        }
    }

    private static int sell(String name, Way way) throws Exception {
        try (Connection database = DriverManager.getConnection(DATABASE)) {
            Stock.fill(database, PIECES);
        }
        ExecutorService buyers = Executors.newFixedThreadPool(8);
        List<Future<Integer>> sales = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            sales.add(buyers.submit(() -> buy(way)));
        }
        buyers.shutdown();
        int sold = 0;
        for (Future<Integer> sale : sales) {
            sold += sale.get();
        }
        System.out.printf("%-24s sold %d of %d%s%n", name, sold, PIECES, sold > PIECES ? ": oversold" : "");
        return sold;
    }

    private static int buy(Way way) throws Exception {
        int bought = 0;
        try (Connection database = DriverManager.getConnection(DATABASE)) {
            database.setAutoCommit(false);
            for (int i = 0; i < 50; i++) {
                bought += way.sell(database) ? 1 : 0;
            }
        }
        return bought;
    }
}
