package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockStatus;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.testbed.TcpProxy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Lists of many locks: whole, and beside renewals. */
class ListTest {
    @AutoClose
    private final Rig rig = new Rig();

    @Test
    void manyLocksAreListedAndRenewalsComeInBetween() throws Exception {
        areListedAndRenewalsComeInBetween(10_000);
    }

    @Test
    @Tag("thorough")
    void aHundredThousandLocksAreListedAndRenewalsComeInBetween() throws Exception {
        areListedAndRenewalsComeInBetween(100_000);
    }

    private void areListedAndRenewalsComeInBetween(int names) throws Exception {
        rig.call(
                "EVAL",
                "for i = 1, " + names + " do redis.call('SET', 'holdfast:{n' .. i .. '}',"
                        + " '1 X 0123456789abcdef0123456789abcdef = host 7 main label ' .. i, 'PX', 600000) end",
                "0");
        RedisStore store = rig.open();
        Grant grant = Rig.hold(store, "mine");
        rig.commands();

        CompletableFuture<List<LockStatus>> listing = store.list("").toCompletableFuture();
        Rig.until("the first to be asked for", () -> scriptsSoFar() > 0);
        assertThat(Rig.renew(store, grant)).isEqualTo(Verdict.HELD);
        int asked = scriptsSoFar();

        assertThat(asked).as("statuses that were asked for before the renewal").isLessThan(names / 2);
        List<LockStatus> all = listing.get(3, TimeUnit.MINUTES);
        assertThat(all).hasSize(names + 1);
        assertThat(all).extracting(LockStatus::name).isSorted().contains("mine", "n1", "n" + names);
        assertThat(all).allMatch(LockStatus::isHeld);
    }

    @Test
    void aListIsAnsweredInTimeThoughTheServerIsNot() {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore store = rig.open("redis://127.0.0.1:" + proxy.port() + "?timeout=2s");
            Rig.hold(store, "a");
            proxy.toServer().swallow();

            assertThatThrownBy(
                            () -> Rig.get(store.list("").toCompletableFuture().orTimeout(10, TimeUnit.SECONDS)))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("2000 ms");

            proxy.heal();
            Rig.until("an answer", () -> Rig.get(store.list("").handle((all, failure) -> failure == null)));
        }
    }

    private int scriptsSoFar() {
        String stats = rig.call("INFO", "commandstats");
        return stats.contains("cmdstat_evalsha:")
                ? Integer.parseInt(stats.replaceAll("(?s).*cmdstat_evalsha:calls=(\\d+),.*", "$1"))
                : 0;
    }
}
