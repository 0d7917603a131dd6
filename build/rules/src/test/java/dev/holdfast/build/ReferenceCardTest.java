package dev.holdfast.build;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** docs/reference.md says what the code says. {@code -Dholdfast.reference=write} writes it anew. */
class ReferenceCardTest {
    private static final Path PAGE = Path.of("../../docs/reference.md");

    @Test
    void theReferenceCardIsAsTheCodeSays() throws IOException {
        String card = ReferenceCard.text();
        if ("write".equals(System.getProperty("holdfast.reference"))) {
            Files.writeString(PAGE, card);
        }
        assertThat(PAGE)
                .as("written by: mvn -Dquick -pl build/rules -am test -Dtest=ReferenceCardTest"
                        + " -Dsurefire.failIfNoSpecifiedTests=false -Dholdfast.reference=write")
                .content()
                .isEqualTo(card);
    }

    @Test
    void itHasAllOfEach() {
        assertThat(ReferenceCard.text())
                .contains("| `waitTime` |", "| `retryCrashed` |", "### @LeaderOnly")
                .contains("| `holdfast.hold.hand-over-time` |", "| `holdfast.connect-lazily` |")
                .contains("| `-w, --wait TIME` |", "### holdfast once\n", "holdfast once --forget NAME\n", "| `79` |");
    }
}
