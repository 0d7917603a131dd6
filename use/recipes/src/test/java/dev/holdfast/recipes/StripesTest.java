package dev.holdfast.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.MultiHold;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many keys on few locks. */
class StripesTest {
    @AutoClose
    private final LockClient client = LockClient.connect("mem:");

    private final Stripes accounts = Stripes.of(client, "account", 64);

    /** The check value of CRC-32 is that of "123456789": 0xCBF43926. */
    @Test
    void aKeyHasTheStripeThatEveryLanguageComputes() {
        assertThat(accounts.stripe("123456789")).isEqualTo(0x26);
        assertThat(accounts.name("123456789")).isEqualTo("account/38");
        assertThat(accounts.lock("123456789").name()).isEqualTo("account/38");
    }

    @Test
    void keysThatFollowEachOtherAreSpreadOverAllStripes() {
        assertThat(IntStream.range(0, 1_000)
                        .map(key -> accounts.stripe("key " + key))
                        .distinct())
                .hasSize(64);
    }

    @Test
    void keysOfOneStripeExcludeEachOtherAndOthersDoNot() throws InterruptedException {
        Stripes two = Stripes.of(client, "two", 2);
        String twin = IntStream.range(0, 100)
                .mapToObj(Integer::toString)
                .filter(key -> two.stripe(key) == two.stripe("a"))
                .findFirst()
                .orElseThrow();
        String other = IntStream.range(0, 100)
                .mapToObj(Integer::toString)
                .filter(key -> two.stripe(key) != two.stripe("a"))
                .findFirst()
                .orElseThrow();
        try (Hold held = two.lock("a").acquire()) {
            assertThat(two.lock(twin).tryAcquire()).isEmpty();
            try (Hold beside = two.lock(other).tryAcquire().orElseThrow()) {
                assertThat(beside.isValid() && held.isValid()).isTrue();
            }
        }
    }

    @Test
    void severalKeysAreLockedTogetherEachStripeOnce() throws InterruptedException {
        List<String> keys =
                IntStream.range(0, 1_000).mapToObj(Integer::toString).toList();
        try (MultiHold all = accounts.bulk(keys).acquire()) {
            assertThat(all.names()).hasSize(64).doesNotHaveDuplicates();
            assertThat(all.token(accounts.name("7"))).isPositive();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 65_537})
    void aNumberOfStripesOutOfRangeIsRefused(int stripes) {
        assertThatThrownBy(() -> Stripes.of(client, "account", stripes))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'account' needs 1 to 65,536 stripes");
    }

    @Test
    void aNameThatNoLockMayHaveIsRefusedAtOnce() {
        assertThatThrownBy(() -> Stripes.of(client, "x".repeat(251), 10_000))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at most 255");
    }

    @Test
    void noKeysAtAllAreRefused() {
        assertThatThrownBy(() -> accounts.bulk(List.of())).isInstanceOf(IllegalArgumentException.class);
    }
}
