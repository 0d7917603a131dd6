package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoredRecord;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.Started;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Behind a proxy that splits reads from writes, and whose replica lags behind: what is changed goes by the primary. */
@Tag("thorough")
class SplitReadsTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    @Started
    private static MariaDbServer mariaDb;

    @Started
    private static PostgresServer postgres;

    private final List<Store> stores = new ArrayList<>();

    /** A server, and where the copy is that stands for its replica: nothing that happens afterwards arrives there. */
    enum Kind {
        MARIADB {
            @Override
            String url() {
                return mariaDb.jdbcUrl();
            }

            @Override
            String replicaUrl() {
                return url().replace("/test?", "/lagging?");
            }

            @Override
            List<String> copy() {
                return List.of(
                        "DROP DATABASE IF EXISTS lagging",
                        "CREATE DATABASE lagging",
                        "CREATE TABLE lagging.holdfast_lock AS SELECT * FROM holdfast_lock",
                        "CREATE TABLE lagging.holdfast_lock_record AS SELECT * FROM holdfast_lock_record");
            }
        },
        POSTGRESQL {
            @Override
            String url() {
                return postgres.jdbcUrl();
            }

            @Override
            String replicaUrl() {
                return url() + (url().contains("?") ? "&" : "?") + "currentSchema=lagging";
            }

            @Override
            List<String> copy() {
                return List.of(
                        "DROP SCHEMA IF EXISTS lagging CASCADE",
                        "CREATE SCHEMA lagging",
                        "CREATE TABLE lagging.holdfast_lock AS SELECT * FROM holdfast_lock",
                        "CREATE TABLE lagging.holdfast_lock_record AS SELECT * FROM holdfast_lock_record");
            }
        };

        abstract String url();

        abstract String replicaUrl();

        abstract List<String> copy();
    }

    @AfterEach
    void closeStores() {
        stores.forEach(Store::close);
    }

    @ParameterizedTest
    @EnumSource
    void aHeldLockIsNotGrantedThoughTheReplicaShowsItFreeOrMissing(Kind kind) throws SQLException {
        Store direct = direct(kind);
        release(direct, hold(direct, Requests.claim("free before")));
        lagsFromNowOn(kind);
        for (String name : List.of("free before", "new")) {
            Grant grant = hold(direct, Requests.claim(name));
            Store split = split(kind);

            assertThat(Requests.get(Asked.of(split, Requests.claim(name)).answer()))
                    .as(name)
                    .isEmpty();
            assertThat(Requests.get(Asked.of(split, Requests.mode(Requests.claim(name), Mode.SHARED))
                            .answer()))
                    .as("to read, " + name)
                    .isEmpty();

            release(direct, grant);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aClaimToReadALockThatNobodyEverHeldIsGranted(Kind kind) throws SQLException {
        direct(kind);
        lagsFromNowOn(kind);
        Store split = split(kind);

        Grant reader = hold(split, Requests.mode(Requests.claim("nobody's"), Mode.SHARED));

        release(split, reader);
    }

    @ParameterizedTest
    @EnumSource
    void whatWasJustReleasedIsGrantedThoughTheReplicaShowsItHeld(Kind kind) throws SQLException {
        direct(kind);
        Store split = split(kind);
        Grant writer = hold(split, Requests.claim("released"));
        lagsFromNowOn(kind);
        release(split, writer);

        release(split, hold(split, Requests.mode(Requests.claim("released"), Mode.SHARED)));
        release(split, hold(split, Requests.claim("released")));
    }

    @ParameterizedTest
    @EnumSource
    void whatReadersJustReleasedIsGrantedThoughTheReplicaShowsThem(Kind kind) throws SQLException {
        direct(kind);
        Store split = split(kind);
        Grant reader = hold(split, Requests.mode(Requests.claim("read before"), Mode.SHARED));
        lagsFromNowOn(kind);
        release(split, reader);

        release(split, hold(split, Requests.claim("read before")));
    }

    @ParameterizedTest
    @EnumSource
    void aClaimWaitsAndGetsItsTurn(Kind kind) throws SQLException {
        Store direct = direct(kind);
        release(direct, hold(direct, Requests.claim("turns")));
        lagsFromNowOn(kind);
        Grant grant = hold(direct, Requests.claim("turns"));
        Store split = split(kind);
        Asked waits = Asked.of(split, Requests.waiting("turns"));
        await().atMost(SOON).until(() -> Requests.get(direct.status("turns")).waiting() == 1);

        release(direct, grant);

        release(split, Requests.get(waits.answer()).orElseThrow());
    }

    @ParameterizedTest
    @EnumSource
    void aRenewalBelievesTheServerThatRenews(Kind kind) throws SQLException {
        Store direct = direct(kind);
        List<Grant> grants = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            grants.add(hold(direct, Requests.claim("split " + i)));
        }
        lagsFromNowOn(kind);
        for (int gone : List.of(0, 5, 8)) {
            release(direct, grants.get(gone));
        }

        Map<ClaimId, Renewal> renewals = Requests.get(split(kind).renew(grants));

        for (int i = 0; i < grants.size(); i++) {
            assertThat(renewals.get(grants.get(i).id()).verdict())
                    .as("grant %s", i)
                    .isEqualTo(List.of(0, 5, 8).contains(i) ? Renewal.Verdict.LOST : Renewal.Verdict.HELD);
        }
        grants.forEach(each -> Requests.get(direct.release(each)));
    }

    @ParameterizedTest
    @EnumSource
    void whatIsChangedIsReadFromThePrimary(Kind kind) throws SQLException {
        Store direct = direct(kind);
        release(direct, hold(direct, Requests.claim("waited for")));
        lagsFromNowOn(kind);
        Grant reader = hold(direct, Requests.mode(Requests.claim("read"), Mode.SHARED));
        Grant writer = hold(direct, Requests.claim("written"));
        Grant holder = hold(direct, Requests.claim("waited for"));
        Asked next = Asked.of(direct, Requests.waiting("waited for"));
        await().atMost(SOON)
                .until(() -> Requests.get(direct.status("waited for")).waiting() == 1);

        Store split = split(kind);
        assertThat(Requests.get(split.renew(List.of(reader))).get(reader.id()).verdict())
                .isEqualTo(Renewal.Verdict.HELD);
        assertThat(Requests.get(split.downgrade(writer))).isTrue();
        assertThat(Requests.get(split.release(holder))).isTrue();

        release(direct, Requests.get(next.answer()).orElseThrow());
        release(direct, reader);
        release(direct, writer);
    }

    @ParameterizedTest
    @EnumSource
    void whetherWorkHasRunIsReadFromThePrimary(Kind kind) throws SQLException {
        Store direct = direct(kind);
        lagsFromNowOn(kind);
        Store split = split(kind);
        RecordWrite done = new RecordWrite("job", 1, RecordWrite.ANY, "done", Duration.ofMinutes(1));
        StoredRecord written = Requests.get(direct.writeRecord(done)).orElseThrow();

        assertThat(Requests.get(split.readRecord("job")).stored()).contains(written);
        assertThat(Requests.get(split.readRecord("other job")).stored()).isEmpty();
        assertThat(Requests.get(split.readRecord("job")).now()).isAfterOrEqualTo(written.writtenAt());
    }

    private static Grant hold(Store store, Claim claim) {
        return Requests.get(Asked.of(store, claim).answer()).orElseThrow();
    }

    private static void release(Store store, Grant grant) {
        assertThat(Requests.get(store.release(grant))).isTrue();
    }

    /** A store that reaches the primary alone; both tables are there. */
    private Store direct(Kind kind) throws SQLException {
        Store store = open(kind, () -> DriverManager.getConnection(kind.url()));
        RecordWrite any = new RecordWrite("any", 1, RecordWrite.ANY, "any", Duration.ofMinutes(1));
        assertThat(Requests.get(store.writeRecord(any))).isPresent();
        return store;
    }

    private Store split(Kind kind) throws SQLException {
        return open(kind, () -> splitting(kind));
    }

    private Store open(Kind kind, Connections connections) throws SQLException {
        try (Connection connection = DriverManager.getConnection(kind.url())) {
            Store store = ServerStore.open(
                    ServerDialects.of(connection), JdbcOptions.defaults(), connections, "split", new KitTime(), false);
            stores.add(store);
            return store;
        }
    }

    private static void lagsFromNowOn(Kind kind) throws SQLException {
        try (Connection connection = DriverManager.getConnection(kind.url());
                Statement statement = connection.createStatement()) {
            for (String sql : kind.copy()) {
                statement.execute(sql);
            }
        }
    }

    /** A proxy sends each SELECT to a replica, unless it locks, or begins with a word for the proxy. */
    private static Connection splitting(Kind kind) throws SQLException {
        Connection primary = DriverManager.getConnection(kind.url());
        Connection replica = DriverManager.getConnection(kind.replicaUrl());
        return (Connection) Proxy.newProxyInstance(
                SplitReadsTest.class.getClassLoader(), new Class<?>[] {Connection.class}, (self, method, arguments) -> {
                    boolean reads = method.getName().equals("prepareStatement")
                            && arguments[0].toString().matches("(SELECT|WITH) .*")
                            && !arguments[0].toString().endsWith("FOR UPDATE");
                    if (method.getName().equals("close")) {
                        replica.close();
                    }
                    try {
                        return method.invoke(reads ? replica : primary, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
