package dev.holdfast.jdbc;

import static dev.holdfast.jdbc.Requests.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.Started;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What one client asks of its sessions: in which order it is served, and what it costs. */
@Tag("thorough")
@Timeout(120)
class SessionRequestsTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    /** So long that nothing is cut off for being silent. */
    private static final Duration LONG = Duration.ofMinutes(1);

    private static final String TRY = "pg_try_advisory_lock";
    private static final String STANDING = "s.claim_id IS NOT NULL";
    private static final String RELEASE = "claim_id = NULL FROM \"setting of commits\" WHERE";

    @Started({"-c", "max_connections=300"})
    private static PostgresServer server;

    @AutoClose
    private final SessionRig rig = new SessionRig();

    private final Meddling connections = new Meddling(server.jdbcUrl());

    @Test
    void renewalsAndReleasesAreServedBeforeClaimsThatCameFirst() {
        SessionStore store = meddled(LONG);
        Grant kept = hold(store, "kept");
        Grant given = hold(store, "given back");
        get(store.release(hold(store, "in the queue 0"))); // so that its row is there
        CountDownLatch goOn = new CountDownLatch(1);
        List<String> sent = recordAndBlock(goOn);
        List<CompletionStage<Optional<Grant>>> claims = tries(store, "in the queue ", 11);
        await().atMost(SOON).until(() -> !sent.isEmpty()); // the first of them is under way
        CompletionStage<Map<ClaimId, Renewal>> renewed = store.renew(List.of(kept));
        CompletionStage<Boolean> released = store.release(given);
        goOn.countDown();
        assertThat(get(renewed).get(kept.id()).verdict()).isEqualTo(Verdict.HELD);
        assertThat(get(released)).isTrue();
        claims.forEach(each -> assertThat(get(each)).isPresent());
        List<String> later = sent.subList(1, sent.size());
        assertThat(firstOf(later, STANDING)).isLessThan(firstOf(later, TRY));
        assertThat(firstOf(later, RELEASE)).isLessThan(firstOf(later, TRY));
    }

    @Test
    void aClaimThatIsNotWaitedForAnyMoreIsNotMade() {
        SessionStore store = meddled(LONG);
        CountDownLatch goOn = new CountDownLatch(1);
        List<String> sent = recordAndBlock(goOn);
        List<CompletionStage<Optional<Grant>>> claims = tries(store, "too late ", 21);
        claims.forEach(each -> assertThatThrownBy(() -> get(each)).isInstanceOf(StoreUnavailableException.class));
        goOn.countDown();
        assertThat(get(store.status("behind them")).isHeld()).isFalse();
        assertThat(sent.stream().filter(each -> each.contains(TRY)).count())
                .isLessThanOrEqualTo(2); // the one that was under way: its name is new, so it tries twice
    }

    /** Nothing is measured but that so many take as long as they should at least. */
    @Test
    void theMoreClaimsPollTheLessOftenEachOfThemAsks() {
        SessionStore holder = rig.store(server.jdbcUrl());
        SessionStore store = meddled(SessionStore.SESSION);
        List<Asked> waiting = new ArrayList<>();
        for (int i = 0; i < 116; i++) {
            hold(holder, "polled " + i);
            waiting.add(Asked.of(store, Requests.waiting("polled " + i)));
        }
        AtomicInteger polls = new AtomicInteger();
        connections.meddle(sql -> polls.addAndGet(sql.contains(TRY) ? 1 : 0));
        long began = System.nanoTime();
        await().atMost(Duration.ofSeconds(60)).until(() -> polls.get() >= 600);
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThan(Duration.ofSeconds(2));
        waiting.forEach(Asked::cancel);
    }

    @Test
    void aClaimThatPollsIsCancelledWithoutAThread() {
        SessionStore holder = rig.store(server.jdbcUrl());
        SessionStore store = rig.store(server.jdbcUrl());
        List<Asked> waiting = new ArrayList<>();
        for (int i = 0; i < 116; i++) {
            hold(holder, "cancelled " + i);
            waiting.add(Asked.of(store, Requests.waiting("cancelled " + i)));
        }
        await().atMost(SOON).until(() -> waitingSessions() == 16);
        server.process().stop();
        Set<Thread> ofOtherTests = Thread.getAllStackTraces().keySet();
        long threads;
        try {
            waiting.forEach(Asked::cancel);
            threads = Thread.getAllStackTraces().keySet().stream()
                    .filter(each -> each.getName().equals("holdfast-cancel") && !ofOtherTests.contains(each))
                    .count();
        } finally {
            server.process().cont();
        }
        assertThat(threads).isLessThanOrEqualTo(16);
        waiting.forEach(each -> await().atMost(SOON).until(() -> each.answer().isDone()));
    }

    @Test
    void locksThatWereWaitedForTakeNoPlaceFromThoseThatWait() {
        SessionStore holder = rig.store(server.jdbcUrl());
        SessionStore store = rig.store(server.jdbcUrl());
        for (int i = 0; i < 16; i++) {
            Grant grant = hold(holder, "handed over " + i);
            Asked waiting = Asked.of(store, Requests.waiting("handed over " + i));
            await().atMost(SOON).until(() -> waitingSessions() == 1);
            assertThat(get(holder.release(grant))).isTrue();
            assertThat(get(waiting.answer())).isPresent();
        }
        hold(holder, "one more");
        Asked waiting = Asked.of(store, Requests.waiting("one more"));
        await().atMost(SOON).until(() -> get(holder.status("one more")).waiting() == 1);
        waiting.cancel();
    }

    @Test
    void anErrorOnTheSessionsThreadEndsTheSessionNotTheClient() {
        SessionStore store = meddled(SessionStore.SESSION);
        AtomicBoolean failed = new AtomicBoolean();
        connections.meddle(sql -> {
            if (sql.contains(TRY) && failed.compareAndSet(false, true)) {
                throw new OutOfMemoryError("of the test");
            }
        });
        assertThatThrownBy(() -> hold(store, "after the session ended")).isInstanceOf(StoreUnavailableException.class);
        await().atMost(SOON)
                .until(() -> get(Asked.of(store, Requests.claim("after an error"))
                                .answer())
                        .isPresent());
    }

    @Test
    void anErrorWhileAnIdleSessionIsClosedDoesNotEndTheClient() {
        SessionStore store = meddled(Duration.ofMillis(500));
        AtomicBoolean failed = new AtomicBoolean();
        connections.meddle(what -> {
            if (what.equals(Meddling.CLOSE) && failed.compareAndSet(false, true)) {
                throw new NoClassDefFoundError("of the test");
            }
        });
        get(store.release(hold(store, "before an idle time")));
        await().atMost(SOON).untilTrue(failed);

        assertThat(hold(store, "after an idle time")).isNotNull();
    }

    @Test
    void anErrorWhileALockIsGivenBackEndsTheSessionNotTheClient() {
        SessionStore store = meddled(SessionStore.SESSION);
        hold(store, "held meanwhile"); // so that each lock is given back by itself
        get(store.release(hold(store, "unlocked")));
        AtomicBoolean failed = new AtomicBoolean();
        AtomicBoolean closed = new AtomicBoolean();
        connections.meddle(what -> {
            if (what.contains(TRY) && !failed.get()) {
                throw new SQLException("of the test", "22000");
            } else if (what.contains("pg_advisory_unlock") && failed.compareAndSet(false, true)) {
                throw new NoClassDefFoundError("of the test");
            } else if (what.equals(Meddling.CLOSE)) {
                closed.set(true);
            }
        });
        assertThatThrownBy(() -> hold(store, "unlocked")).isInstanceOf(StoreUnavailableException.class);
        assertThat(failed).isTrue();

        assertThat(hold(store, "after the session ended")).isNotNull();
        assertThat(closed).isTrue();
    }

    @Test
    void aBreakWhoseFirstReplyIsLostReportsAnUnknownOutcome() {
        SessionStore holder = rig.store(server.jdbcUrl());
        SessionStore store = meddled(LONG);
        Grant grant = hold(holder, "broken by the first try");
        AtomicInteger lost = new AtomicInteger();
        connections.meddle(sql -> {
            if (sql.contains("UPDATE") && lost.getAndIncrement() == 0) {
                throw new SQLException("the connection broke", "08006");
            }
        });
        assertThatThrownBy(() -> get(store.breakGrant(grant.name(), grant.number(), true)))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("'" + grant.name() + "'")
                .hasMessageContaining("cannot tell whether");
        assertThat(get(store.status(grant.name())).isHeld()).isFalse();
        assertThat(get(store.breakGrant(grant.name(), grant.number(), true))).isFalse();
    }

    /** In an outage each try that fails leaves one, and it is repeated until it is answered. */
    @Test
    void aWithdrawalOpensNoSessionWhereTheOneOfItsClaimHasEnded() {
        AtomicBoolean away = new AtomicBoolean();
        Connections breaking = () -> {
            if (away.get()) {
                throw new SQLException("the server is away", "08001");
            }
            return connections.open();
        };
        SessionStore store = rig.store(breaking, server.jdbcUrl(), LONG);
        connections.meddle(sql -> {
            away.set(true);
            throw new SQLException("the connection broke", "08006");
        });
        Claim claim = Requests.claim("withdrawn");
        assertThatThrownBy(() -> get(Asked.of(store, claim).answer())).isInstanceOf(StoreUnavailableException.class);
        assertThat(away).isTrue();

        assertThat(store.withdraw(claim).toCompletableFuture()).succeedsWithin(SOON);
    }

    /** A renewal is under way on the session of a grant, which breaks, while its claim is repeated. */
    @Test
    void whatWasAskedOfASessionThatEndedIsNotAnsweredAsIfTheClientWereClosed() {
        SessionStore holder = rig.store(server.jdbcUrl());
        SessionStore store = meddled(LONG);
        Grant before = hold(holder, "broken off");
        Claim claim = Requests.waiting("broken off");
        Asked waiting = Asked.of(store, claim);
        await().atMost(SOON).until(() -> waitingSessions() == 1);
        assertThat(get(holder.release(before))).isTrue();
        assertThat(get(waiting.answer())).isPresent();
        CountDownLatch goOn = new CountDownLatch(1);
        CountDownLatch underWay = new CountDownLatch(1);
        connections.meddle(sql -> {
            if (sql.contains(STANDING)) {
                underWay.countDown();
                pause(goOn);
                throw new SQLException("the connection broke", "08006");
            }
        });
        pause(underWay);
        CompletionStage<Optional<Grant>> again = Asked.of(store, claim).answer();
        goOn.countDown();
        assertThatThrownBy(() -> get(again)).isInstanceOf(StoreUnavailableException.class);
    }

    private SessionStore meddled(Duration session) {
        return rig.store(connections, server.jdbcUrl(), session);
    }

    private static Grant hold(SessionStore store, String name) {
        return get(Asked.of(store, Requests.claim(name)).answer()).orElseThrow();
    }

    private static List<CompletionStage<Optional<Grant>>> tries(SessionStore store, String prefix, int many) {
        List<CompletionStage<Optional<Grant>>> answers = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            answers.add(Asked.of(store, Requests.claim(prefix + i)).answer());
        }
        return answers;
    }

    /** The statements from now on; the first of them is not answered before the latch is. */
    private List<String> recordAndBlock(CountDownLatch goOn) {
        List<String> sent = new CopyOnWriteArrayList<>();
        AtomicReference<CountDownLatch> once = new AtomicReference<>(goOn);
        connections.meddle(sql -> {
            if (sql.contains(TRY) && once.getAndSet(null) != null) {
                sent.add(sql);
                pause(goOn);
            } else if (once.get() == null) {
                sent.add(sql);
            }
        });
        return sent;
    }

    private static void pause(CountDownLatch until) {
        try {
            until.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static int firstOf(List<String> sent, String part) {
        for (int i = 0; i < sent.size(); i++) {
            if (sent.get(i).contains(part)) {
                return i;
            }
        }
        return sent.size();
    }

    private static long waitingSessions() throws SQLException {
        return Sql.number(
                server.jdbcUrl(),
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND mode = 'ExclusiveLock' AND"
                        + " classid <> 'holdfast_lock_session'::regclass"); // tickets
    }
}
