package dev.holdfast.flashsale;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.flashsale.guard.Guards;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The code that the page shows beside a run. */
class GuardCodeTest {
    @Test
    void everyGuardOfEveryStoreHasItsCode() {
        JsonNode codes = JsonMapper.builder()
                .build()
                .readTree(GuardCode.script().replaceFirst("^const codes = ", "").replaceFirst(";\\s*$", ""));

        List<String> guards = Stream.of(
                        "sqlite:", "redis:", "jdbc:postgresql:", "jdbc:mariadb:", "zk:", "etcd:", "memcached:")
                .flatMap(store -> Guards.on(store).stream())
                .distinct()
                .toList();

        assertThat(codes.propertyNames()).containsExactlyInAnyOrderElementsOf(guards);
        for (String guard : guards) {
            assertThat(GuardCode.of(guard).lines())
                    .as(guard)
                    .hasSizeBetween(3, 25)
                    .noneMatch(line -> line.contains("// "))
                    .anyMatch(line -> !line.startsWith(" "));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '\0',
            value = {
                "none             # twice  # shop.write(order, read);",
                "synchronized     # twice  # synchronized (this) {",
                "holdfast         # late   # shop.checkFence(sale.id(), token);",
                "setnx            # killed # redis.del(name);",
                "lua-delete       # twice  # work.run(NO_TOKEN);",
                "watchdog         # twice  # () -> renew(name, mine)",
                "host-and-thread  # twice  # || change(\"UPDATE owned SET depth = depth + 1",
                "query-and-occupy # killed # change(\"UPDATE occupied SET state = 'free'",
                "put-if-absent    # killed # delete(name);",
                "lock-service     # twice  # work.run(NO_TOKEN);",
                "add-with-lease   # twice  # work.run(NO_TOKEN);"
            })
    void theLineThatFailsOrRefusesIsMarked(String guard, String what, String start) {
        GuardCode.Shown shown = GuardCode.of(guard);

        assertThat(shown.lines().get(shown.failing().get(what)).strip()).startsWith(start);
    }

    @Test
    void onAnEtcdThatWantsALogInThereAreNoTextbooksLocksWhichHaveNone() {
        assertThat(Guards.on("etcd://clerk@127.0.0.1:2379"))
                .containsExactly("none", "synchronized", "pessimistic", "optimistic", "holdfast", "split");
    }

    @Test
    void theFenceRefusesAtTheWriteAndNotAtTheReading() {
        GuardCode.Shown shown = GuardCode.of("holdfast");

        assertThat(shown.lines().get(shown.failing().get("late") + 1)).contains("shop.write(");
    }

    @ParameterizedTest
    @CsvSource({"pessimistic", "optimistic", "split"})
    void whatHoldsHasNoLineThatFails(String guard) {
        assertThat(GuardCode.of(guard).failing()).isEmpty();
    }
}
