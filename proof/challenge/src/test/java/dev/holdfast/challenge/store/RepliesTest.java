package dev.holdfast.challenge.store;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** Bytes as the protocols describe them. */
class RepliesTest {
    private static final String ONE_COLUMN = "01000001 01";
    private static final String A_ROW = "03000002 02 3137";

    @Test
    void postgresIsIdleWhenItSaysSoLast() {
        assertThat(Replies.isIdlePostgres(bytes("C\0\0\0\15UPDATE 1\0Z\0\0\0\5I")))
                .isTrue();
        assertThat(Replies.isIdlePostgres(bytes("C\0\0\0\15UPDATE 1\0Z\0\0\0\5T")))
                .isFalse();
        assertThat(Replies.isIdlePostgres(bytes("C\0\0\0\15UPDATE 1\0"))).isFalse();
        assertThat(Replies.isIdlePostgres(bytes("I"))).isFalse();
    }

    @Test
    void mariaDbHasCommittedAChangeWhenNoTransactionIsOpen() {
        assertThat(Replies.isIdleMariaDb(hex("07000001 00 01 00 0200 0000"))).isTrue();
        assertThat(Replies.isIdleMariaDb(hex("07000001 00 01 00 0100 0000"))).isFalse();
        assertThat(Replies.isIdleMariaDb(hex("09000001 00 FCFF00 00 0200 0000")))
                .isTrue();
        assertThat(Replies.isIdleMariaDb(hex("09000001 00 FCFF00 00 0300 0000")))
                .isFalse();
    }

    @Test
    void mariaDbHasCommittedWhatItAnswersByRowsAsTheLastPacketSays() {
        assertThat(Replies.isIdleMariaDb(hex(ONE_COLUMN + A_ROW + "05000003 FE 0000 0200")))
                .isTrue();
        assertThat(Replies.isIdleMariaDb(hex(ONE_COLUMN + A_ROW + "05000003 FE 0000 0300")))
                .isFalse();
        assertThat(Replies.isIdleMariaDb(hex(ONE_COLUMN + A_ROW + "07000003 FE 00 00 0200 0000")))
                .isTrue();
        assertThat(Replies.isIdleMariaDb(hex(ONE_COLUMN + A_ROW + "07000003 FE 00 00 0300 0000")))
                .isFalse();
    }

    @Test
    void anErrorOfMariaDbAndHalfAnAnswerSayNothing() {
        assertThat(Replies.isIdleMariaDb(hex("09000001 FF 2604 233233303030"))).isFalse();
        assertThat(Replies.isIdleMariaDb(hex("07000001 00 01 00 0200"))).isFalse();
        assertThat(Replies.isIdleMariaDb(hex("070000"))).isFalse();
        assertThat(Replies.isIdleMariaDb(hex(""))).isFalse();
    }

    @Test
    void aPingOfEtcdIsNoAnswer() {
        String ping = "000008 06 00 00000000 0204101009090707";
        assertThat(Replies.isMessage(hex(ping))).isFalse();
        assertThat(Replies.isMessage(hex(ping + "000005 00 00 00000003 0000000000")))
                .isTrue();
        assertThat(Replies.isMessage(hex("000001 01 04 00000003 88" + "000005 00 00 00000003 0000000000")))
                .isTrue();
        assertThat(Replies.isMessage(hex("0000"))).isFalse();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(ISO_8859_1);
    }

    private static byte[] hex(String text) {
        return HexFormat.of().parseHex(text.replace(" ", ""));
    }
}
