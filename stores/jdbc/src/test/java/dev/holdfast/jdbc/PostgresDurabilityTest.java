package dev.holdfast.jdbc;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.PostgresServer;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What PostgreSQL has answered, after it was killed: its log writer sleeps, so only a commit that waits is on disk. */
@Tag("thorough")
class PostgresDurabilityTest {
    private static final Duration LONG = Duration.ofMinutes(5);

    private PostgresServer server;
    private Store store;

    @BeforeEach
    void startServer() {
        server = orSkip(() -> PostgresServer.start("-c", "wal_writer_delay=10s"));
        store = open();
    }

    @AfterEach
    void stopServer() {
        if (server != null) {
            store.close();
            server.close();
        }
    }

    /** The grants come first: each forces to disk what was written before it. */
    @Test
    void isKnownAgain() {
        Grant reader = hold(Requests.mode(Requests.claim("read"), Mode.SHARED));
        Grant permit = hold(Requests.mode(Requests.claim("permits"), new Mode.Permits(1, 2)));
        Grant broken = hold(Requests.claim("broken"));
        Grant brokenNow = hold(Requests.claim("broken now"));
        Grant writer = hold(Requests.claim("written"));
        assertThat(verdict(reader.withLease(LONG))).isEqualTo(Verdict.HELD);
        assertThat(verdict(permit.withLease(LONG))).isEqualTo(Verdict.HELD);
        assertThat(Requests.get(store.breakGrant("broken", broken.number(), false)))
                .isTrue();
        assertThat(Requests.get(store.breakGrant("broken now", brokenNow.number(), true)))
                .isTrue();
        assertThat(Requests.get(store.downgrade(writer))).isTrue();

        killAndRestart();

        SoftAssertions all = new SoftAssertions();
        all.assertThat(leaseLeft(reader)).as("a reader's renewal").isGreaterThan(Requests.LEASE);
        all.assertThat(leaseLeft(permit)).as("a permit's renewal").isGreaterThan(Requests.LEASE);
        all.assertThat(verdict(broken)).as("a lock that was broken").isEqualTo(Verdict.LOST);
        all.assertThat(verdict(brokenNow)).as("one that was broken at once").isEqualTo(Verdict.LOST);
        all.assertThat(Requests.get(Asked.of(store, Requests.mode(Requests.claim("written"), Mode.SHARED))
                        .answer()))
                .as("room for readers beside a writer")
                .isPresent();
        all.assertAll();
    }

    private Duration leaseLeft(Grant grant) {
        return Requests.get(store.status(grant.name())).grant().orElseThrow().leaseLeft();
    }

    private void killAndRestart() {
        server.process().kill();
        server.process().restart();
        store.close();
        store = open();
    }

    private Grant hold(Claim claim) {
        return Requests.get(Asked.of(store, claim).answer()).orElseThrow();
    }

    private Verdict verdict(Grant grant) {
        return Requests.get(store.renew(List.of(grant))).get(grant.id()).verdict();
    }

    private Store open() {
        return new JdbcStoreProvider().open(server.jdbcUrl(), new StoreContext(new ServerCases.NoWallClock()));
    }
}
