package dev.holdfast.build;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A native image keeps only the files that a module's metadata names: all that the code reads are named. */
class NativeImageTest {
    private static final Pattern INCLUDED = Pattern.compile("\"pattern\": \"([^\"]*)\"");

    @Test
    void everyFileThatCoreOrAStoreReadsIsIncluded() throws IOException {
        for (Module module : House.get().engineAndStores()) {
            Path resources = module.folder().resolve("src/main/resources");
            List<String> included = patterns(resources);
            try (Stream<Path> files = Files.walk(resources)) {
                assertThat(files.filter(Files::isRegularFile)
                                .map(file -> resources.relativize(file).toString())
                                .filter(file -> !file.startsWith("META-INF/")))
                        .as("files of " + module)
                        .allMatch(file -> included.stream().anyMatch(file::matches));
            }
        }
    }

    private static List<String> patterns(Path resources) throws IOException {
        try (Stream<Path> files = Files.walk(resources)) {
            List<Path> found =
                    files.filter(file -> file.endsWith("resource-config.json")).toList();
            return found.isEmpty()
                    ? List.of()
                    : INCLUDED.matcher(Files.readString(found.get(0)).replace("\\\\", "\\"))
                            .results()
                            .map(match -> match.group(1))
                            .toList();
        }
    }
}
