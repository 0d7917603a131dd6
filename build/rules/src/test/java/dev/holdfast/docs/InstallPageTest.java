package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page for installing. That its command installs what it says is shown by {@link WorkedExamplesTest}. */
class InstallPageTest {
    private static final Pattern ARTIFACT = Pattern.compile("<artifactId>(holdfast-[a-z-]+)</artifactId>");

    @TempDir
    private Path folder;

    @Test
    void theFirstProgramOfThePageRuns() {
        try (ChildProcess first = ChildJvm.main(First.class).directory(folder).start()) {
            first.expect("holding, token ", Duration.ofSeconds(60));
            assertThat(first.waitFor(Duration.ofSeconds(60))).as(first.story()).isZero();
        }
    }

    @Test
    void thePageNamesEachPublishedArtifactThatPeopleDependOn() throws IOException {
        String page = Files.readString(PagesTest.projectRoot().resolve("docs/install.md"));
        String bom = Files.readString(PagesTest.projectRoot().resolve("build/bom/pom.xml"));

        assertThat(ARTIFACT.matcher(bom).results().map(found -> found.group(1)))
                .filteredOn(artifact -> !artifact.equals("holdfast-cli"))
                .hasSizeGreaterThan(10)
                .allSatisfy(artifact -> assertThat(page).contains("`" + artifact + "`"));
    }
}
