package dev.holdfast.spi.support;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.URLEncoder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HolderWordTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "web-1",
                "http-nio-8080-exec-3",
                "a b",
                "100%",
                "a+b",
                "a%20b",
                "主机",
                "\uD83D\uDD12",
                "tab\there"
            })
    void aWordComesBackAsItWasAndHasNoSpace(String word) {
        assertThat(HolderWord.encode(word)).doesNotContain(" ");
        assertThat(HolderWord.decode(HolderWord.encode(word))).isEqualTo(word);
    }

    @Test
    void eachCharacterIsEncodedAsUrlEncoderDoes() {
        for (char c = 0; c < 0x250; c++) {
            String word = "a" + c;
            assertThat(HolderWord.encode(word)).isEqualTo(URLEncoder.encode(word, UTF_8));
        }
    }

    @Test
    void whatWasNotEncodedIsReadAsItIs() {
        assertThat(HolderWord.decode("100%")).isEqualTo("100%");
    }
}
