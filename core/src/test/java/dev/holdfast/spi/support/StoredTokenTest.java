package dev.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoredTokenTest {
    @ParameterizedTest
    @ValueSource(longs = {0, 1, 1_838_449_839_566_288_896L, Long.MAX_VALUE})
    void aTokenIsReadAsItWasWritten(long token) {
        assertThat(StoredToken.of(Long.toString(token))).hasValue(token);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "x", "-1", "+1", "007", "-0", "1 ", "1.0", "٣", "9223372036854775808", "99999999999999999999"
            })
    void whatIsNoTokenIsNone(String foreign) {
        assertThat(StoredToken.of(foreign)).isEmpty();
    }
}
