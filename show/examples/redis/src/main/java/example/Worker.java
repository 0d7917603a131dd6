package example;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.StaleTokenException;
import dev.holdfast.jdbc.JdbcFence;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;

/** Works on one order, again and again, while other processes want to do the same. */
public class Worker {
    public static void main(String[] args) throws Exception {
        String store = System.getenv().getOrDefault("HOLDFAST_STORE", "redis://127.0.0.1:6379");
        JdbcFence fence = JdbcFence.inTable("fence");
        try (LockClient client = LockClient.connect(store);
                Connection database = DriverManager.getConnection("jdbc:sqlite:shop.db")) {
            fence.create(database); // unless the table is there
            database.setAutoCommit(false);
            DistributedLock lock =
                    client.lock("order:42", HoldOptions.defaults().lease(Duration.ofSeconds(3)));
            while (true) {
                try (Hold hold = lock.acquire()) {
                    hold.onLost(loss -> System.out.println("notified: " + loss.message()));
                    System.out.println("holding, token " + hold.token());
                    Thread.sleep(1000); // the work
                    fence.check(database, "order:42", hold.token()); // refuses the token of an earlier hold
                    database.commit(); // your own changes belong before this line
                } catch (StaleTokenException | HoldLostException e) {
                    database.rollback();
                    System.out.println(e.getClass().getSimpleName() + ": " + e.getMessage());
                }
            }
        }
    }
}
