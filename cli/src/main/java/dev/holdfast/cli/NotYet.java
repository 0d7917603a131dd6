package dev.holdfast.cli;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.UnmatchedArgumentException;

/** What the command line is to have and has not yet: refused by name, so that nobody looks for a slip of the pen. */
final class NotYet {
    private static final Map<String, String> ABSENT = Map.of(
            "once", "the command once is not part of this version; 'holdfast run --wait 0' skips while another runs");

    private NotYet() {}

    /** What to say of it, if the first word that was not understood is such. */
    static Optional<String> explain(Exception failure) {
        if (!(failure instanceof UnmatchedArgumentException unmatched)) {
            return Optional.empty();
        }
        List<String> words = unmatched.getUnmatched();
        String first = words.isEmpty() ? "" : words.get(0).replaceFirst("=.*", "");
        return Optional.ofNullable(ABSENT.get(first));
    }
}
