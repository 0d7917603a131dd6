package dev.holdfast.spring.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.LockMode;
import dev.holdfast.MultiHold;
import dev.holdfast.Term;
import dev.holdfast.jdbc.JdbcFence;
import dev.holdfast.jdbc.JdbcOptions;
import dev.holdfast.jdbc.JdbcStores;
import dev.holdfast.spi.StoreFactory;
import dev.holdfast.spring.HoldLock;
import dev.holdfast.spring.LeaderElected;
import dev.holdfast.spring.LeaderOnly;
import dev.holdfast.spring.LeaderRevoked;
import dev.holdfast.spring.LockAnnotationsAutoConfiguration;
import dev.holdfast.spring.LockClients;
import dev.holdfast.spring.Locks;
import dev.holdfast.spring.NotAcquired;
import dev.holdfast.spring.Once;
import dev.holdfast.spring.boot.HoldfastAutoConfiguration;
import dev.holdfast.spring.integration.HoldfastLockRegistry;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.sql.Connection;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.core.annotation.AliasFor;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

/** The snippets of the pages on Spring Boot and on transactions, run. */
class SpringPagesTest {
    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(HoldfastAutoConfiguration.class, LockAnnotationsAutoConfiguration.class))
            .withPropertyValues("holdfast.store=mem:", "holdfast.clients.orders.store=mem:");

    @Test
    void methods() {
        application.withBean(Orders.class).withBean(Charges.class).run(context -> {
            Orders orders = context.getBean(Orders.class);
            orders.charge(new Order(42));
            orders.refresh();
            orders.transfer("a", "b", null);
            orders.export();
            orders.settle(7, null);
            orders.ship(3);
            context.getBean(Charges.class).charge(1);
            assertThat(orders.done())
                    .containsExactly("charge 42", "refresh", "transfer a b", "export", "settle 7", "ship 3");
        });
    }

    @Test
    void aStoreThatCreatesNoTable() {
        new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(HoldfastAutoConfiguration.class, DataSourceAutoConfiguration.class))
                .withUserConfiguration(Migrated.class)
                .withPropertyValues("spring.datasource.url=jdbc:h2:mem:migrated")
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining("it may not be created (createTable is off)"));
    }

    @Test
    void work() {
        application.withBean(Jobs.class).run(context -> {
            Jobs jobs = context.getBean(Jobs.class);
            jobs.nightlyReport();
            jobs.nightlyReport();
            jobs.handle(new Message("a"));
            jobs.handle(new Message("a"));
            assertThat(jobs.done()).containsExactly("report", "a");
            assertThat(jobs.events().poll(1, TimeUnit.MINUTES)).isEqualTo("start");
            jobs.sendOutbox(null);
            assertThat(jobs.done()).containsExactly("report", "a", "outbox");
        });
    }

    @Test
    void integration() {
        application
                .withUserConfiguration(Integration.class)
                .run(context -> assertThat(context.getBean(LockRegistry.class)).isNotNull());
    }

    @Test
    void transactions() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        HoldfastAutoConfiguration.class,
                        LockAnnotationsAutoConfiguration.class,
                        DataSourceAutoConfiguration.class,
                        JdbcTemplateAutoConfiguration.class,
                        DataSourceTransactionManagerAutoConfiguration.class))
                .withUserConfiguration(Transactions.class)
                .withPropertyValues("holdfast.store=mem:", "spring.datasource.url=jdbc:h2:mem:accounts")
                .run(context -> {
                    context.getBean(JdbcTemplate.class)
                            .execute("CREATE TABLE account (id BIGINT PRIMARY KEY, balance BIGINT)");
                    context.getBean(JdbcTemplate.class).execute("INSERT INTO account VALUES (1, 100)");
                    try (Connection connection =
                            context.getBean(DataSource.class).getConnection()) {
                        JdbcFence.inTable("holdfast_fence").create(connection);
                    }
                    context.getBean(Accounts.class).withdraw(1, 30);
                    context.getBean(Fenced.class).withdraw(1, 30, null);
                    assertThat(context.getBean(JdbcTemplate.class)
                                    .queryForObject("SELECT balance FROM account WHERE id = 1", Long.class))
                            .isEqualTo(40);
                });
    }

    record Order(long id) {}

    record Message(String id) {}

    // @formatter:off
    // snippet springMeta
    @Retention(RetentionPolicy.RUNTIME)
    @HoldLock(waitTime = "2s", lease = "10s")
    @interface ShipmentLock {
        @AliasFor(annotation = HoldLock.class, attribute = "name")
        String value();
    }
    // end
    // @formatter:on

    static class Orders {
        private final List<String> done = new CopyOnWriteArrayList<>();

        List<String> done() {
            return done;
        }

        // @formatter:off
        // snippet springHoldLock
        @HoldLock("order:#{#order.id}")
        public void charge(Order order) {
            chargeNow(order);
        }
        // end

        // snippet springSkip
        @HoldLock(name = "cache", waitTime = "0s", notAcquired = NotAcquired.SKIP)
        public void refresh() {
            refreshNow();
        }
        // end

        // snippet springSeveral
        @HoldLock({"account:#{#from}", "account:#{#to}"})                        // both, or none
        public void transfer(String from, String to, MultiHold hold) {           // callers pass null for the hold
            transferNow(from, to, hold.token("account:" + from));
        }

        @HoldLock(name = "exports", mode = LockMode.PERMITS, permits = 4)        // four at once, over all servers
        public void export() {
            exportNow();
        }
        // end

        // snippet springToken
        @HoldLock(name = "order:#{#id}", client = "orders")
        public void settle(long id, Hold hold) {
            settleNow(id, hold.token());
        }
        // end

        // snippet springMetaUse
        @ShipmentLock("shipment:#{#id}")
        public void ship(long id) {
            shipNow(id);
        }
        // end
        // @formatter:on

        private void chargeNow(Order order) {
            // @formatter:off
            // snippet springAssert
            Locks.assertHeld();
            // end
            // @formatter:on
            done.add("charge " + order.id());
        }

        private void refreshNow() {
            done.add("refresh");
        }

        private void transferNow(String from, String to, long token) {
            assertThat(token).isPositive();
            done.add("transfer " + from + " " + to);
        }

        private void exportNow() {
            done.add("export");
        }

        private void settleNow(long id, long token) {
            assertThat(token).isPositive();
            done.add("settle " + id);
        }

        private void shipNow(long id) {
            done.add("ship " + id);
        }
    }

    // @formatter:off
    // snippet springClient
    static class Charges {
        private final LockClient client;
        private final HoldOptions options;

        Charges(LockClient client, LockClients clients) {
            this.client = client;
            this.options = clients.options("");            // what holdfast.hold.* says
        }

        void charge(long id) throws InterruptedException {
            client.lock("order:" + id, options).run(hold -> chargeNow(id, hold.token()));
        }
    }
    // end
    // @formatter:on

    private static void chargeNow(long id, long token) {
        assertThat(id).isEqualTo(1);
        assertThat(token).isPositive();
    }

    static class Jobs {
        private final List<String> done = new CopyOnWriteArrayList<>();

        List<String> done() {
            return done;
        }

        private final BlockingQueue<String> events = new LinkedBlockingQueue<>();

        BlockingQueue<String> events() {
            return events;
        }

        // @formatter:off
        // snippet springOnce
        @Scheduled(cron = "0 0 3 * * *", zone = "Europe/Berlin")       // every server has the timer
        @Once(cron = "0 0 3 * * *", zone = "Europe/Berlin")            // one of them does the work
        public void nightlyReport() {
            writeReport();
        }

        @Once(key = "#{#message.id}", keep = "7d")         // a message that is delivered twice is handled once
        public void handle(Message message) {
            handleNow(message);
        }
        // end

        // snippet springLeader
        @LeaderOnly("outbox")
        public void sendOutbox(Term term) {                // callers pass null for the term
            sendAll(term.token());
        }

        @EventListener
        public void start(LeaderElected elected) {
            startListening(elected.election());
        }

        @EventListener
        public void stop(LeaderRevoked revoked) {
            stopListening(revoked.election());
        }
        // end
        // @formatter:on

        private void writeReport() {
            done.add("report");
        }

        private void handleNow(Message message) {
            done.add(message.id());
        }

        private void sendAll(long token) {
            assertThat(token).isPositive();
            done.add("outbox");
        }

        private void startListening(String election) {
            assertThat(election).isEqualTo("outbox");
            events.add("start");
        }

        private void stopListening(String election) {
            events.add("stop " + election);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Migrated {
        // @formatter:off
        // snippet springMigratedStore
        @Bean
        StoreFactory lockStore(DataSource dataSource) {
            return JdbcStores.on(dataSource, JdbcOptions.defaults().createTable(false));
        }
        // end
        // @formatter:on
    }

    @Configuration(proxyBeanMethods = false)
    static class Integration {
        // @formatter:off
        // snippet springRegistry
        @Bean
        LockRegistry<?> lockRegistry(LockClient client) {
            return new HoldfastLockRegistry(client, "integration");
        }
        // end
        // @formatter:on
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class Transactions {
        @Bean
        Accounts accounts(JdbcTemplate jdbc) {
            return new Accounts(jdbc);
        }

        @Bean
        Fenced fenced(JdbcTemplate jdbc, DataSource dataSource) {
            return new Fenced(jdbc, dataSource);
        }
    }

    static class Accounts {
        private final JdbcTemplate jdbc;

        Accounts(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        // @formatter:off
        // snippet transactionInside
        @HoldLock("account:#{#id}")        // acquired first, released last
        @Transactional                     // begins and commits in between
        public void withdraw(long id, long amount) {
            long balance = jdbc.queryForObject("SELECT balance FROM account WHERE id = ?", Long.class, id);
            jdbc.update("UPDATE account SET balance = ? WHERE id = ?", balance - amount, id);
        }
        // end
        // @formatter:on
    }

    static class Fenced {
        private final JdbcTemplate jdbc;
        private final DataSource dataSource;
        private final JdbcFence fence = JdbcFence.inTable("holdfast_fence");

        Fenced(JdbcTemplate jdbc, DataSource dataSource) {
            this.jdbc = jdbc;
            this.dataSource = dataSource;
        }

        // @formatter:off
        // snippet transactionFenced
        @HoldLock("account:#{#id}")
        @Transactional
        public void withdraw(long id, long amount, Hold hold) throws Exception {
            Connection connection = DataSourceUtils.getConnection(dataSource);        // the transaction's own
            fence.check(connection, "account:" + id, hold.token());                   // StaleTokenException rolls back
            jdbc.update("UPDATE account SET balance = balance - ? WHERE id = ?", amount, id);
        }
        // end
        // @formatter:on
    }
}
