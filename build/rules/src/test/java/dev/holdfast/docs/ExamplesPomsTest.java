package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The poms of the examples, which have no parent, so that nothing but this keeps their versions equal to the build's. */
class ExamplesPomsTest {
    private static final Pattern PINNED = Pattern.compile(
            "<artifactId>([^<]*)</artifactId>(?:\\s*<!--[^>]*-->)?\\s*<version>([^<]*)</version>", Pattern.DOTALL);
    private static final Pattern PROPERTY = Pattern.compile("<([a-z-]+\\.version)>([^<]*)</");

    @Test
    void eachHasNoParentAndTakesTheVersionsOfHoldfastFromItsList() throws IOException {
        for (Path pom : poms()) {
            assertThat(Files.readString(pom))
                    .as(pom.toString())
                    .doesNotContain("<parent>")
                    .containsPattern("<artifactId>holdfast-bom</artifactId>\\s*<version>" + version() + "</version>");
        }
    }

    @Test
    void eachVersionIsTheOneThatTheBuildHas() throws IOException {
        Map<String, String> ours = pinned(PagesTest.projectRoot().resolve("pom.xml"));
        for (Path pom : poms()) {
            pinned(pom).forEach((artifact, version) -> {
                if (ours.containsKey(artifact)) {
                    assertThat(version).as(artifact + " in " + pom).isEqualTo(ours.get(artifact));
                }
            });
        }
    }

    private static String version() throws IOException {
        return pinned(PagesTest.projectRoot().resolve("pom.xml")).get("holdfast-parent");
    }

    private static List<Path> poms() throws IOException {
        try (Stream<Path> folders = Files.list(PagesTest.projectRoot().resolve("show/examples"))) {
            List<Path> poms = folders.map(folder -> folder.resolve("pom.xml"))
                    .filter(Files::exists)
                    .toList();
            assertThat(poms).hasSize(5);
            return poms;
        }
    }

    /** What a pom says of artifacts and, as {@code kotlin.version}, of itself. */
    private static Map<String, String> pinned(Path file) throws IOException {
        String pom = Files.readString(file);
        Map<String, String> properties = new HashMap<>();
        PROPERTY.matcher(pom).results().forEach(found -> properties.put(found.group(1), found.group(2)));
        Map<String, String> versions = new HashMap<>(properties);
        Matcher matcher = PINNED.matcher(pom);
        while (matcher.find()) {
            String version = matcher.group(2);
            versions.put(
                    matcher.group(1),
                    version.startsWith("${")
                            ? properties.getOrDefault(version.substring(2, version.length() - 1), version)
                            : version);
        }
        return versions;
    }
}
