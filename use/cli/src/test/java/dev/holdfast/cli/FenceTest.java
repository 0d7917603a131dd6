package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code holdfast fence}: a token below the last one runs nothing. */
class FenceTest extends OnOwnStore {
    /** So large that a double cannot tell it from its neighbours. */
    private static final long TODAY = 1_838_449_839_566_288_896L;

    @Test
    void aTokenIsAdmittedUntilAHigherOneWasAndThenItsCommandDoesNotRun() {
        assertThat(fence(TODAY + 1, "--", "sh", "-c", "echo ran $HOLDFAST_TOKEN; exit 3"))
                .isEqualTo(new Cli.Ended(3, List.of("ran " + (TODAY + 1)), List.of()));

        Cli.Ended stale = fence(TODAY, "--", "echo", "ran");
        assertThat(stale.code()).isEqualTo(78);
        assertThat(stale.out()).isEmpty();
        assertThat(stale.err())
                .containsExactly("holdfast: 'report' refused token " + TODAY + ": a later hold with token "
                        + (TODAY + 1) + " was here; stop this work, its lock was lost");
        assertThat(fence(TODAY + 1).code()).as("the same token").isZero();
    }

    @Test
    void whatIsNoTokenIsRefused() {
        Cli.Ended ended = cli.run("fence", "report", "9223372036854775808");
        assertThat(ended.code()).isEqualTo(64);
        assertThat(ended.err()).singleElement().asString().contains("a token is a number from 0 to");
    }

    private Cli.Ended fence(long token, String... command) {
        List<String> all = new ArrayList<>(List.of("fence", "report", Long.toString(token)));
        all.addAll(List.of(command));
        return cli.run(all.toArray(String[]::new));
    }
}
