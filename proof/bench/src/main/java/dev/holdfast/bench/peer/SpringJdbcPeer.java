package dev.holdfast.bench.peer;

import com.zaxxer.hikari.HikariDataSource;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** Spring Integration's JDBC registry over a pool, with its default settings: 10 s, asking each 100 ms. */
final class SpringJdbcPeer implements Peer {
    private final HikariDataSource pool;
    private final DefaultLockRepository repository;
    private final JdbcLockRegistry registry;

    SpringJdbcPeer(String url, int clients) {
        pool = Pools.open(url, clients);
        Tables.create(pool, """
                create table if not exists INT_LOCK (
                    LOCK_KEY char(36) not null,
                    REGION varchar(100) not null,
                    CLIENT_ID char(36),
                    CREATED_DATE %1$s not null,
                    EXPIRED_AFTER %1$s not null,
                    constraint INT_LOCK_PK primary key (LOCK_KEY, REGION))""");
        repository = new DefaultLockRepository(pool);
        repository.setTransactionManager(new JdbcTransactionManager(pool));
        repository.afterPropertiesSet();
        repository.afterSingletonsInstantiated();
        repository.start();
        registry = new JdbcLockRegistry(repository);
    }

    @Override
    public PeerLock open(String name, Mode mode) {
        Only.exclusive(mode, this);
        return new JavaLock(registry.obtain(name));
    }

    @Override
    public void close() {
        repository.close();
        pool.close();
    }
}
