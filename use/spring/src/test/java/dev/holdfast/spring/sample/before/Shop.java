package dev.holdfast.spring.sample.before;

import dev.holdfast.spring.sample.Account;
import dev.holdfast.spring.sample.Report;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** A shop on Redisson and ShedLock. */
@Configuration(proxyBeanMethods = false)
@EnableScheduling
@EnableSchedulerLock(defaultLockAtMostFor = "10m")
public class Shop {
    @Bean(destroyMethod = "shutdown")
    RedissonClient redisson(@Value("${shop.redis}") String address) {
        Config config = new Config();
        config.useSingleServer().setAddress(address);
        return Redisson.create(config);
    }

    @Bean
    LockProvider lockProvider(DataSource dataSource) {
        return new JdbcTemplateLockProvider(dataSource);
    }

    @Bean
    Accounts accounts(RedissonClient locks, JdbcTemplate jdbc) {
        return new Accounts(locks, jdbc);
    }

    @Bean
    Reports reports(JdbcTemplate jdbc) {
        return new Reports(jdbc);
    }

    static class Accounts implements Account {
        private final RedissonClient locks;
        private final JdbcTemplate jdbc;

        Accounts(RedissonClient locks, JdbcTemplate jdbc) {
            this.locks = locks;
            this.jdbc = jdbc;
        }

        @Override
        public void pay(long id, long amount) {
            RLock lock = locks.getLock("account:" + id);
            lock.lock();
            try {
                add(id, -amount);
            } finally {
                lock.unlock();
            }
        }

        @Override
        public boolean tryToRefund(long id, long amount) throws InterruptedException {
            RLock lock = locks.getLock("account:" + id);
            if (!lock.tryLock(2, TimeUnit.SECONDS)) {
                return false;
            }
            try {
                add(id, amount);
                return true;
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void transfer(long from, long to, long amount) {
            RLock both = locks.getMultiLock(locks.getLock("account:" + from), locks.getLock("account:" + to));
            both.lock();
            try {
                add(from, -amount);
                add(to, amount);
            } finally {
                both.unlock();
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
        @SchedulerLock(name = "nightly", lockAtMostFor = "20m", lockAtLeastFor = "5m")
        public void nightly() {
            jdbc.update("INSERT INTO report SELECT COUNT(*) FROM account");
        }
    }
}
