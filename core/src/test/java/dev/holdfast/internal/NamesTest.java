package dev.holdfast.internal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which names a pattern matches, and how long that takes. */
class NamesTest {

    @ParameterizedTest
    @CsvSource({
        "order:*, order:42, true",
        "order:*, order:, true",
        "order:*, ORDER:42, false",
        "*:42, order:42, true",
        "*:42, order:42:42, true",
        "*:42, order:421, false",
        "*a*b, aab, true",
        "*a*b, ba, false",
        "a*ba*ba, aba, false",
        "a*ba*ba, ababa, true",
        "**, x, true",
        "?*?, x, false",
        "?*?, xy, true",
        "*a?c*, abcabd, true",
        "*a?c*, ac, false",
        "'*\\E.*', 'x\\E.', true",
        "'*\\E.*', 'x\\Ey', false"
    })
    void aStarMatchesAnyCharactersAndAQuestionMarkOne(String pattern, String name, boolean matches) {
        assertThat(Names.glob(pattern).matcher(name).matches()).isEqualTo(matches);
    }

    @Test
    void aCharacterOutsideOfTheBasicPlaneIsOne() {
        assertThat(Names.glob("*?").matcher("\uD83D\uDD12").matches()).isTrue();
        assertThat(Names.glob("??").matcher("\uD83D\uDD12").matches()).isFalse();
    }

    /** A pattern comes from anybody who may look at the locks. */
    @Test
    void aPatternOfManyStarsIsJudgedByReadingTheNameAFewTimes() {
        Counted name = new Counted("a".repeat(100));

        assertThat(Names.glob("*a*a*a*a*a*b").matcher(name).matches()).isFalse();

        assertThat(name.reads).isLessThan(10_000);
    }

    /** A text that counts how often it is read. */
    private static final class Counted implements CharSequence {
        private final String text;
        private long reads;

        Counted(String text) {
            this.text = text;
        }

        @Override
        public char charAt(int index) {
            reads++;
            return text.charAt(index);
        }

        @Override
        public int length() {
            return text.length();
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return text.subSequence(start, end);
        }

        @Override
        public String toString() {
            return text;
        }
    }
}
