package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockWaiter;
import dev.holdfast.StaleTokenException;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.StoreFence;
import dev.holdfast.spi.StoredRecord;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * The same for a store that keeps readers, permits, records and fences as well: {@code readers} is held by 4 and 5; {@code
 * permits} by 6, with two of three, and 7. The record {@code daily} has the token 2048, and so has the fence {@code file}.
 * What a waiter may expect depends on whether the store has {@linkplain FrozenLeasesContract leases} or {@linkplain
 * FrozenSessionsContract sessions}.
 */
public abstract class FrozenQueuesContract extends FrozenLayoutContract {
    private static final long TOKEN = 2048;
    private static final Mode TWO = new Mode.Permits(2, 3);
    private static final Mode ONE = new Mode.Permits(1, 3);

    /** For the two kinds of stores. */
    FrozenQueuesContract() {}

    /** The present version's fence. */
    protected abstract StoreFence fence() throws Exception;

    @Override
    void writeMore(RawClient now) throws Exception {
        now.hold(claim(4, "readers", Mode.SHARED));
        now.hold(claim(5, "readers", Mode.SHARED));
        now.hold(claim(6, "permits", TWO));
        now.hold(claim(7, "permits", ONE));
        RecordWrite write = new RecordWrite("daily", TOKEN, RecordWrite.ABSENT, "done by host", Duration.ofDays(1));
        assertThat(patience.answer(now.store.writeRecord(write), "write")).isPresent();
        try (StoreFence fence = fence()) {
            fence.check("file", TOKEN);
        }
    }

    /** Puts what was frozen into the server, and has a claim wait behind the waiter. */
    RawClient.Queued rivalBehindTheWaiter() throws Exception {
        put(Duration.ZERO);
        assertThat(client.waiting("waited")).isOne();
        RawClient.Queued rival = client.queue(claim(0, "waited", Mode.EXCLUSIVE));
        patience.answer(client.store.waiters("waited"), "waiters")
                .ifPresent(all -> assertThat(all).extracting(LockWaiter::name).containsExactly("waited", "waited"));
        return rival;
    }

    @Test
    void readersAreRenewedAndKeepAWriterOut() throws Exception {
        put(Duration.ZERO);
        Grant one = shown(4, "readers", Mode.SHARED);
        Grant two = grant(5, "readers", Mode.SHARED, one.number());

        assertThat(client.attempt("readers")).as("a writer").isEmpty();
        assertThat(client.renew(List.of(one, two)).values())
                .allSatisfy(each -> assertThat(each.verdict()).isEqualTo(renewed()));
        Grant third = client.hold(claim(0, "readers", Mode.SHARED));
        end(one);
        end(two);
        assertThat(client.attempt("readers")).as("a writer").isEmpty();
        assertThat(client.release(third)).isTrue();
        assertThat(client.hold("readers").number()).isGreaterThan(one.number());
    }

    @Test
    void permitsAreCountedRenewedAndReleased() throws Exception {
        put(Duration.ZERO);
        Grant one = shown(6, "permits", TWO);
        Grant two = grant(7, "permits", ONE, one.number());

        assertThat(client.ask(claim(0, "permits", ONE))).as("a fourth permit").isEmpty();
        assertThat(client.renew(List.of(one, two)).values())
                .allSatisfy(each -> assertThat(each.verdict()).isEqualTo(renewed()));
        end(one);
        client.hold(claim(0, "permits", TWO));
        end(two);
    }

    @Test
    void aRecordIsReadKeptFromLowerTokensAndWritten() throws Exception {
        put(Duration.ZERO);
        StoredRecord record = patience.answer(client.store.readRecord("daily"), "read")
                .stored()
                .orElseThrow();
        assertThat(record.token()).isEqualTo(TOKEN);
        assertThat(record.value()).isEqualTo("done by host");
        assertThat(patience.answer(client.store.listRecords("dai"), "list")).containsExactly(record);

        assertThat(write(TOKEN - 1, record.revision())).isEmpty();
        assertThat(write(TOKEN, record.revision() + 1)).isEmpty();
        assertThat(write(TOKEN, record.revision()))
                .hasValueSatisfying(written -> assertThat(written.revision()).isGreaterThan(record.revision()));
    }

    @Test
    void aFenceRefusesALowerToken() throws Exception {
        put(Duration.ZERO);
        try (StoreFence fence = fence()) {
            assertThatThrownBy(() -> fence.check("file", TOKEN - 1)).isInstanceOf(StaleTokenException.class);
            fence.check("file", TOKEN);
        }
    }

    private Optional<StoredRecord> write(long token, long revision) {
        return patience.answer(
                client.store.writeRecord(new RecordWrite("daily", token, revision, "again", Duration.ofDays(1))),
                "write");
    }
}
