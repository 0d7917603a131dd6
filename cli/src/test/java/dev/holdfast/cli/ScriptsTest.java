package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The other scripts of a checkout, in surroundings that lead scripts astray. */
class ScriptsTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    @TempDir
    Path folder;

    @Test
    void cdpathLeadsVerifyToNoOtherCheckout() throws IOException {
        Path script = ROOT.resolve("verify");
        assumeTrue(Files.isExecutable(script), "no ./verify here");
        Path own = Files.createDirectories(folder.resolve("checkout"));
        Path other = Files.createDirectories(folder.resolve("others/checkout"));
        Files.copy(script, own.resolve("verify"), StandardCopyOption.COPY_ATTRIBUTES);
        Files.writeString(own.resolve("pom.xml"), "<tests.skip.mine>\n");
        Files.writeString(other.resolve("pom.xml"), "<tests.skip.theirs>\n");
        Cli.Ended ended = Cli.end(ChildProcess.command("sh", "-c", "checkout/verify --help")
                .directory(folder)
                .environment("CDPATH", other.getParent().toString())
                .start());

        assertThat(ended.code()).isZero();
        assertThat(ended.out()).contains("                mine");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "holdfast",
                "verify",
                "dist/pack",
                "dist/release",
                "dist/beside",
                "dist/site",
                "dist/published.sh",
                "bench/launch.sh",
                "flashsale/launch.sh",
                "model/check",
                ".ci/run"
            })
    void aScriptIsCheckedOutWithoutCarriageReturnsWhateverGitIsTold(String script) {
        assumeTrue(Files.exists(ROOT.resolve(".git")), "no Git repository here");
        Cli.Ended ended = Cli.end(ChildProcess.command(
                        "git", "-c", "core.autocrlf=true", "-c", "core.eol=crlf", "ls-files", "--eol", script)
                .directory(ROOT)
                .start());

        assertThat(ended.out()).isNotEqualTo(List.of());
        assertThat(ended.out().get(0)).startsWith("i/lf").contains("w/lf", "eol=lf");
    }
}
