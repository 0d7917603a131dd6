package dev.holdfast.build;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The list of versions (bom) has no parent, so nothing but this keeps it equal to the modules. */
class PublishedPomsTest {
    private static final Pattern OUR_ARTIFACT = Pattern.compile(
            "<groupId>dev.holdfast</groupId>\\s*<artifactId>([^<]*)</artifactId>\\s*<version>\\$\\{project.version}</version>");

    @Test
    @Tag("thorough")
    void theListOfVersionsHasEachPublishedModule() throws IOException {
        assertThat(OUR_ARTIFACT.matcher(pom("build/bom")).results().map(found -> found.group(1)))
                .containsExactlyInAnyOrderElementsOf(publishedArtifacts());
    }

    @Test
    void theListOfVersionsSaysOfItselfWhatTheRootPomSays() throws IOException {
        for (String element : List.of("version", "url", "home.url", "developers", "licenses", "connection")) {
            assertThat(first(element, pom("build/bom"))).as(element).isEqualTo(first(element, pom(".")));
        }
    }

    private static List<String> publishedArtifacts() throws IOException {
        Stream.Builder<String> artifacts = Stream.builder();
        for (Module module : House.get().modules()) {
            String pom = Files.readString(module.folder().resolve("pom.xml"));
            if (!pom.contains("<maven.deploy.skip>true")) {
                artifacts.add(first("artifactId", pom.substring(pom.indexOf("</parent>"))));
            }
        }
        return artifacts.build().toList();
    }

    private static String pom(String folder) throws IOException {
        return Files.readString(Path.of("../..", folder, "pom.xml"));
    }

    /** What the first element of that name contains, in one line. */
    private static String first(String element, String pom) {
        int from = pom.indexOf("<" + element + ">") + element.length() + 2;
        return pom.substring(from, pom.indexOf("</" + element + ">", from)).replaceAll("\\s+", " ");
    }
}
