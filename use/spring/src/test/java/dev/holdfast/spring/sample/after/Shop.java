package dev.holdfast.spring.sample.after;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.MultiHold;
import dev.holdfast.spring.Once;
import dev.holdfast.spring.sample.Account;
import dev.holdfast.spring.sample.Report;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** A shop on Holdfast. */
@Configuration(proxyBeanMethods = false)
@EnableScheduling
public class Shop {
    @Bean
    Accounts accounts(LockClient locks, JdbcTemplate jdbc) {
        return new Accounts(locks, jdbc);
    }

    @Bean
    Reports reports(JdbcTemplate jdbc) {
        return new Reports(jdbc);
    }

    static class Accounts implements Account {
        private final LockClient locks;
        private final JdbcTemplate jdbc;

        Accounts(LockClient locks, JdbcTemplate jdbc) {
            this.locks = locks;
            this.jdbc = jdbc;
        }

        @Override
        public void pay(long id, long amount) throws InterruptedException {
            try (Hold hold = locks.lock("account:" + id).acquire()) {
                add(id, -amount);
            }
        }

        @Override
        public boolean tryToRefund(long id, long amount) throws InterruptedException {
            Optional<Hold> lock = locks.lock("account:" + id).tryAcquire(Duration.ofSeconds(2));
            if (lock.isEmpty()) {
                return false;
            }
            try (Hold hold = lock.get()) {
                add(id, amount);
                return true;
            }
        }

        @Override
        public void transfer(long from, long to, long amount) throws InterruptedException {
            try (MultiHold both =
                    locks.multiLock(List.of("account:" + from, "account:" + to)).acquire()) {
                add(from, -amount);
                add(to, amount);
            }
        }

        private void add(long id, long amount) {
            jdbc.update("UPDATE account SET balance = balance + ? WHERE id = ?", amount, id);
        }
    }

    static class Reports implements Report {
        private final JdbcTemplate jdbc;

        Reports(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @Override
        @Scheduled(cron = "0 0 3 * * *", zone = "UTC")
        @Once(name = "nightly", cron = "0 0 3 * * *", zone = "UTC", atMost = "20m")
        public void nightly() {
            jdbc.update("INSERT INTO report SELECT COUNT(*) FROM account");
        }
    }
}
