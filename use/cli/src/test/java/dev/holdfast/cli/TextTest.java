package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

/** What is read from and written for people and programs. */
class TextTest {
    @ParameterizedTest
    @CsvSource({
        "0, PT0S",
        "5, PT5S",
        "0.5, PT0.5S",
        "1.25, PT1.25S",
        "0s, PT0S",
        "500ms, PT0.5S",
        "30s, PT30S",
        "5m, PT5M",
        "1h, PT1H",
        "8760h, PT8760H"
    })
    void durationsAreAWholeNumberAndAUnit(String text, Duration duration) {
        assertThat(new DurationConverter().convert(text)).isEqualTo(duration);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "", " ", "5.", ".5", "1.2345", "s", "-5s", "+5s", "1.5s", "1,5s", "1,5", "٣", "5 s", "5S", "5d",
                "1h30m", "٣s", "8761h"
            })
    void whatCouldBeMeantOtherwiseIsNoDuration(String text) {
        assertThatThrownBy(() -> new DurationConverter().convert(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("500ms, 30s, 5m, 1h");
    }

    @ParameterizedTest
    @CsvSource({
        "PT0.0004S, 0ms",
        "PT0.999S, 999ms",
        "PT59.9S, 59s",
        "PT61S, 1m 1s",
        "PT3H2M1S, 3h 2m",
        "PT49H, 2d 1h",
        "PT-1S, 0ms"
    })
    void peopleReadDurationsInTwoUnits(Duration duration, String text) {
        assertThat(HumanTime.of(duration)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({
        "redis://host:1/0, redis://host:1/0",
        "redis://me:pass@host:1/0, redis://host:1/0",
        "redis://me:p@s/s@host, redis://host",
        "jdbc:postgresql://host/db?user=me&password=x, jdbc:postgresql://host/db",
        "jdbc:h2:file;PASSWORD=x, jdbc:h2:file",
        "sqlite:/var/lib/locks.db, sqlite:/var/lib/locks.db",
    })
    void secretsOfUrlsAreLeftOut(String url, String shown) {
        assertThat(Redaction.oneLine("on '" + url + "'; try again")).isEqualTo("on '" + shown + "'; try again");
    }

    /** A pass over all rows for each cell would take a minute. */
    @Test
    void aTableOfVeryManyRowsIsWrittenAtOnce() {
        int rows = 100_000;
        TextTable table = new TextTable("lr", "NAME", "WAITING");
        for (int i = 0; i < rows; i++) {
            table.row("lock-" + i, Integer.toString(i));
        }
        String text = assertTimeout(Duration.ofSeconds(10), table::toString);

        assertThat(text.lines())
                .hasSize(rows + 1)
                .startsWith("NAME        WAITING", "lock-0            0")
                .endsWith("lock-99999    99999");
    }

    @Test
    void messagesAreOneLineThatCommandsNoTerminal() {
        assertThat(Redaction.oneLine("first\n  second\r\n\u001b[31mthird\n")).isEqualTo("first; second; ?[31mthird");
    }

    @Test
    void jsonIsEscaped() {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("text", "a\"b\\c\n\u0001\u007fß\uD83D\uDE00");
        object.put("numbers", Arrays.asList(1, -2L, 0.5, null));
        object.put("empty", Map.of());

        assertThat(Json.of(object))
                .isEqualTo("{\"text\":\"a\\\"b\\\\c\\u000a\\u0001\\u007f\\u00df\\ud83d\\ude00\","
                        + "\"numbers\":[1,-2,0.5,null],\"empty\":{}}");
        assertThat(Json.of(List.of())).isEqualTo("[]");
    }

    @Test
    void columnsAreAlignedByCharactersNotByCodeUnits() {
        TextTable table = new TextTable("lr", "NAME", "N");
        table.row("\uD83D\uDE00", "10");
        table.row("abcde", "9");

        assertThat(table).hasToString("NAME    N\n\uD83D\uDE00      10\nabcde   9\n");
    }
}
