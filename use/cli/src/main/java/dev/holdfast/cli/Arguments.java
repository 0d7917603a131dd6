package dev.holdfast.cli;

import java.util.Arrays;
import java.util.List;

/**
 * The command line, parted at the {@code --} of {@code run}, {@code once} and {@code fence}: what follows is another program's, and no
 * option of ours.
 *
 * @param ours what we read
 * @param command what they run; empty for other commands
 */
record Arguments(List<String> ours, List<String> command) {
    private static final String DELIMITER = "--";
    private static final List<String> RUNNERS = List.of(RunCommand.NAME, OnceCommand.NAME, FenceCommand.NAME);

    static Arguments of(String... args) {
        List<String> all = Arrays.asList(args);
        int delimiter = all.indexOf(DELIMITER);
        return delimiter < 0 || !isRun(all.subList(0, delimiter))
                ? new Arguments(all, List.of())
                : new Arguments(all.subList(0, delimiter), all.subList(delimiter + 1, all.size()));
    }

    /** Whether the first word that is neither an option nor an option's value is a command that runs others. */
    private static boolean isRun(List<String> args) {
        for (int i = 0; i < args.size(); i++) {
            String arg = args.get(i);
            if (arg.equals(HoldfastCommand.STORE)) {
                i++; // its value
            } else if (!arg.startsWith("-")) {
                return RUNNERS.contains(arg);
            }
        }
        return false;
    }
}
