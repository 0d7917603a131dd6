package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.StaleTokenException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.KitTime;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of locks when the primary of a replicated database dies, and when it hands over in order. */
@Tag("thorough")
@Timeout(180)
class FailoverTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    private final AtomicReference<String> primary = new AtomicReference<>();

    private Store open(ReplicatedPair.Kind kind) {
        return ServerStore.open(
                kind.dialect(),
                JdbcOptions.defaults().connections(1),
                () -> DriverManager.getConnection(primary.get()),
                "the primary",
                new KitTime(),
                false);
    }

    private static Grant claim(Store store, String name) {
        return Requests.get(Asked.of(store, Requests.claim(name)).answer()).orElseThrow();
    }

    private static Verdict renewed(Store store, Grant grant) {
        return Requests.get(store.renew(List.of(grant))).get(grant.id()).verdict();
    }

    /** The first renewal may meet the connection to the server that is gone. */
    private static void awaitVerdict(Store store, Grant grant, Verdict verdict) {
        await().atMost(SOON)
                .ignoreExceptionsInstanceOf(StoreUnavailableException.class)
                .until(() -> renewed(store, grant) == verdict);
    }

    @ParameterizedTest
    @EnumSource
    void whatWasReplicatedIsStillHeldAndWhatWasNotIsLostAndItsTokenRefused(ReplicatedPair.Kind kind)
            throws SQLException {
        try (ReplicatedPair pair = kind.start()) {
            primary.set(pair.primaryUrl());
            try (Store early = open(kind);
                    Store late = open(kind)) {
                Grant kept = claim(early, "kept");
                pair.awaitReplicated();
                pair.holdReplication();
                Grant forgotten = claim(late, "forgotten");
                assertThat(late.capabilities().caveats())
                        .as("what a failover may do is said")
                        .anyMatch(caveat -> caveat.contains("failover"));

                pair.killPrimary();
                pair.promote();
                primary.set(pair.replicaUrl());

                try (Store other = open(kind)) {
                    assertThat(Requests.get(
                                    Asked.of(other, Requests.claim("kept")).answer()))
                            .isEmpty();
                    Grant next = claim(other, "forgotten");
                    assertThat(next.number()).isGreaterThan(forgotten.number());
                    awaitVerdict(early, kept, Verdict.HELD);
                    awaitVerdict(late, forgotten, Verdict.LOST);
                    assertThat(renewed(other, next)).isEqualTo(Verdict.HELD);
                    refuses(pair.replicaUrl(), forgotten.number(), next.number());
                }
            }
        }
    }

    private static void refuses(String url, long stale, long admitted) throws SQLException {
        JdbcFence fence = JdbcFence.inTable("fence");
        try (Connection connection = DriverManager.getConnection(url)) {
            fence.create(connection);
            connection.setAutoCommit(false);
            fence.check(connection, "forgotten", admitted);
            connection.commit();
            assertThatThrownBy(() -> fence.check(connection, "forgotten", stale))
                    .isInstanceOf(StaleTokenException.class);
            connection.rollback();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aPlannedSwitchoverLosesNoHoldAndNoWaiter(ReplicatedPair.Kind kind) throws SQLException {
        try (ReplicatedPair pair = kind.start()) {
            primary.set(pair.primaryUrl());
            try (Store holder = open(kind);
                    Store waiter = open(kind)) {
                Grant kept = claim(holder, "kept");
                Asked waiting = Asked.of(waiter, Requests.waiting("kept"));
                await().atMost(SOON)
                        .until(() -> Requests.get(holder.status("kept")).waiting() == 1);

                pair.makePrimaryReadOnly();
                pair.awaitReplicated();
                pair.promote();
                primary.set(pair.replicaUrl());

                awaitVerdict(holder, kept, Verdict.HELD);
                assertThat(waiting.answer()).isNotDone();
                assertThat(Requests.get(holder.release(kept))).isTrue();
                Grant next = Requests.get(waiting.answer()).orElseThrow();
                assertThat(next.number()).isGreaterThan(kept.number());
            }
        }
    }

    /** Nothing can be done about it in a table: it is said in the pages. */
    @Test
    void aReplicaThatTakesWritesGrantsWhatItsPrimaryGrants() throws SQLException {
        try (ReplicatedPair pair = ReplicatedPair.Kind.MARIADB.start()) {
            pair.promoteBeside();
            primary.set(pair.primaryUrl());
            try (Store here = open(ReplicatedPair.Kind.MARIADB)) {
                claim(here, "made on both");
                pair.awaitReplicated();
                primary.set(pair.replicaUrl());
                try (Store there = open(ReplicatedPair.Kind.MARIADB)) {
                    assertThat(Requests.get(Asked.of(there, Requests.claim("made on both"))
                                    .answer()))
                            .as("what has arrived keeps others out")
                            .isEmpty();
                    pair.holdReplication();

                    Grant one = claim(here, "a");
                    Grant other = claim(there, "a");

                    assertThat(List.of(renewed(here, one), renewed(there, other)))
                            .containsOnly(Verdict.HELD);
                }
            }
        }
    }
}
