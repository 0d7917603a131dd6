package example;

import dev.holdfast.spring.HoldLock;
import dev.holdfast.spring.Once;
import org.springframework.http.HttpStatus;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

@RestController
public class Accounts {
    private final JdbcClient database;

    Accounts(JdbcClient database) {
        this.database = database;
    }

    /** The lock is held before the transaction begins, and until it has committed. Without it, withdrawals get lost. */
    @PostMapping("/accounts/{id}/withdraw/{amount}")
    @HoldLock("account:#{#id}")
    @Transactional
    public long withdraw(@PathVariable long id, @PathVariable long amount) {
        long balance = database.sql("SELECT balance FROM account WHERE id = ?")
                .param(id)
                .query(Long.class)
                .single();
        if (balance < amount) {
            throw new ResponseStatusException(HttpStatus.CONFLICT, "the balance is " + balance);
        }
        database.sql("UPDATE account SET balance = ? WHERE id = ?")
                .params(balance - amount, id)
                .update();
        return balance - amount;
    }

    /** Every server has the timer; one of them writes the report of these five seconds. */
    @Scheduled(cron = "*/5 * * * * *")
    @Once(cron = "*/5 * * * * *")
    public void writeReport() {
        database.sql("INSERT INTO report (total) SELECT sum(balance) FROM account")
                .update();
    }
}
