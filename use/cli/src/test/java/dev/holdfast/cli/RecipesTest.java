package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The scripts on the page about cron do what the page says. */
class RecipesTest extends OnOwnStore {
    private static final Path PAGE = Path.of("../..", "docs", "cron-and-systemd.md");

    @BeforeEach
    void holdfastIsOnThePath() throws IOException {
        Files.createSymbolicLink(cli.file("holdfast"), Launcher.script());
    }

    @Test
    @Tag("thorough")
    void theWrapperTrustsNoNameThatItInherited() throws Exception {
        write("backup", scriptWith("--locked"));
        try (LockClient client = cli.client();
                Hold hold = client.lock("nightly-backup").acquire()) {
            assertThat(hold.isValid()).isTrue();
            Cli.Ended second = backup();
            assertThat(second.code()).isEqualTo(ExitCode.NOT_ACQUIRED);
            assertThat(second.out()).isEmpty();
        }
        assertThat(backup().out()).singleElement().asString().matches("backup \\d+ begins");
    }

    private Cli.Ended backup() {
        return Cli.end(cli.shell(cli.file("backup").toString())
                .environment("PATH", folder + ":" + System.getenv("PATH"))
                .environment("HOLDFAST_NAME", "nightly-backup")
                .start());
    }

    @Test
    void theWrapperOfCronExportsThePassword() throws IOException {
        Files.writeString(cli.file("env"), "HOLDFAST_PASSWORD=s3cret\n");
        Files.writeString(cli.file("holdfast-stub"), "#!/bin/sh\necho \"sees $HOLDFAST_PASSWORD\"\n");
        assertThat(cli.file("holdfast-stub").toFile().setExecutable(true)).isTrue();
        write(
                "nightly",
                scriptWith("set -a")
                        .replace("/etc/holdfast/env", cli.file("env").toString())
                        .replaceAll(
                                "/opt/holdfast/(?:bin/)?holdfast",
                                cli.file("holdfast-stub").toString()));

        assertThat(Cli.end(cli.shell(cli.file("nightly").toString()).start()).out())
                .containsExactly("sees s3cret");
    }

    private void write(String name, String script) throws IOException {
        Files.writeString(cli.file(name), script);
        assertThat(cli.file(name).toFile().setExecutable(true)).isTrue();
    }

    /** The script on the page that has these words in it. */
    private static String scriptWith(String words) throws IOException {
        for (String block : Files.readString(PAGE).split("```\n")) {
            if (block.startsWith("#!/bin/sh\n") && block.contains(words)) {
                return block;
            }
        }
        throw new AssertionError("no script with " + words + " on " + PAGE);
    }
}
