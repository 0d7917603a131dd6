package dev.holdfast.bench.peer;

import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/** ShedLock over JDBC by the database's time. It never waits, so its caller asks again each millisecond. */
final class ShedLockPeer implements Peer {
    private static final Duration AT_MOST = Duration.ofSeconds(30);

    private final HikariDataSource pool;
    private final LockProvider provider;

    ShedLockPeer(String url, int clients) {
        pool = Pools.open(url, clients);
        Tables.create(pool, """
                create table if not exists shedlock (
                    name varchar(64) not null,
                    lock_until %1$s not null,
                    locked_at %1$s not null,
                    locked_by varchar(255) not null,
                    primary key (name))""");
        provider = new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
                .withJdbcTemplate(new JdbcTemplate(pool))
                .usingDbTime()
                .build());
    }

    @Override
    public PeerLock open(String name, Mode mode) {
        Only.exclusive(mode, this);
        return new OneLock(provider, name);
    }

    @Override
    public void close() {
        pool.close();
    }

    private static final class OneLock implements PeerLock {
        private final LockProvider provider;
        private final String name;
        private @Nullable SimpleLock held;

        OneLock(LockProvider provider, String name) {
            this.provider = provider;
            this.name = name;
        }

        @Override
        public void acquire() throws InterruptedException {
            RetryLoop.until(this::take);
        }

        @Override
        public boolean tryAcquire(Duration patience) throws InterruptedException {
            return RetryLoop.within(patience, this::take);
        }

        private boolean take() {
            Optional<SimpleLock> got =
                    provider.lock(new LockConfiguration(Instant.now(), name, AT_MOST, Duration.ZERO));
            held = got.orElse(null);
            return got.isPresent();
        }

        @Override
        public void release() {
            SimpleLock lock = held;
            if (lock != null) {
                held = null;
                lock.unlock();
            }
        }
    }
}
