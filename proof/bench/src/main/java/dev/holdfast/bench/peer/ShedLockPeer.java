package dev.holdfast.bench.peer;

import com.zaxxer.hikari.HikariDataSource;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.springframework.jdbc.core.JdbcTemplate;

/** ShedLock over JDBC by the database's time. */
final class ShedLockPeer implements Peer {
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
        return new ShedLock(provider, name);
    }

    @Override
    public void close() {
        pool.close();
    }
}
