package dev.holdfast.cli;

import picocli.CommandLine.Command;

/** {@code holdfast release}: the earlier word for {@code break}, which asks for no reason. */
@Command(
        name = ReleaseCommand.NAME,
        hidden = true,
        description = "Breaks a lock; the earlier word for 'break'.",
        sortOptions = false,
        usageHelpAutoWidth = true,
        footer = {
            "",
            "It works as 'holdfast break' does, without the question for a reason.",
            "",
            "Examples:",
            "  holdfast release nightly-backup",
            "  holdfast release --yes nightly-backup                (in scripts)",
            "  holdfast release --now --yes deploy                  (its holder is dead)"
        })
final class ReleaseCommand extends BreakCommand {
    static final String NAME = "release";

    @Override
    boolean asksForReason() {
        return false;
    }
}
