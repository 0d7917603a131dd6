package dev.holdfast.build;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The arrows within the engine: one file names another. In an order of its files, few arrows may point up, from a file to
 * one that builds on it. The order is found by a search, so that none has to be maintained; {@code
 * docs/internals/README.md} has the figures that this test prints.
 */
class EngineArrowsTest {
    private static final Path ENGINE = Path.of("../core/src/main/java/dev/holdfast/internal");
    private static final int MOST_UP = 8;
    private static final int ATTEMPTS = 40;
    private static final Pattern NO_CODE =
            Pattern.compile("\"\"\"[\\s\\S]*?\"\"\"|\"(?:\\\\.|[^\"\\\\\n])*\"|/\\*[\\s\\S]*?\\*/|//[^\n]*");
    private static final Pattern WORD = Pattern.compile("\\w+");

    /** The files that each file names. */
    private final Map<String, Set<String>> arrows = new TreeMap<>();

    @Test
    void fewArrowsPointUp() throws IOException {
        read();
        List<String> up = fewestUp();
        int all = arrows.values().stream().mapToInt(Set::size).sum();
        System.out.println(arrows.size() + " files, " + all + " arrows, " + up.size() + " up: " + up);

        assertThat(all).isGreaterThan(arrows.size());
        assertThat(up).hasSizeLessThanOrEqualTo(MOST_UP);
    }

    private void read() throws IOException {
        try (Stream<Path> files = Files.list(ENGINE)) {
            for (Path file :
                    files.filter(each -> !each.endsWith("package-info.java")).toList()) {
                String code = NO_CODE.matcher(Files.readString(file)).replaceAll(" ");
                Set<String> words = new TreeSet<>();
                WORD.matcher(code).results().forEach(word -> words.add(word.group()));
                arrows.put(file.getFileName().toString().replace(".java", ""), words);
            }
        }
        arrows.forEach((file, named) -> {
            named.retainAll(arrows.keySet());
            named.remove(file);
        });
    }

    /** The arrows up in the best of the orders that the search finds, so at least as many as there must be. */
    private List<String> fewestUp() {
        Random random = new Random(1);
        List<String> fewest = List.of();
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            List<String> order = new ArrayList<>(arrows.keySet());
            Collections.shuffle(order, random);
            while (improve(order, random)) {
                // until no file has a better place
            }
            List<String> up = up(order);
            if (attempt == 0 || up.size() < fewest.size()) {
                fewest = up;
            }
        }
        return fewest;
    }

    /** Moves each file to where the fewest of its arrows point up; false if none moved to a better place. */
    private boolean improve(List<String> order, Random random) {
        boolean better = false;
        List<String> files = new ArrayList<>(order);
        Collections.shuffle(files, random);
        for (String file : files) {
            int before = order.indexOf(file);
            order.remove(before);
            int[] cost = new int[order.size() + 1];
            cost[0] = (int) order.stream().filter(each -> names(each, file)).count();
            for (int i = 0; i < order.size(); i++) {
                cost[i + 1] = cost[i] + (names(file, order.get(i)) ? 1 : 0) - (names(order.get(i), file) ? 1 : 0);
            }
            int least = Arrays.stream(cost).min().orElseThrow();
            int[] best = IntStream.range(0, cost.length)
                    .filter(i -> cost[i] == least)
                    .toArray();
            order.add(best[random.nextInt(best.length)], file);
            better |= least < cost[before];
        }
        return better;
    }

    /** In an order from those that build on others to those that others build on. */
    private List<String> up(List<String> order) {
        List<String> up = new ArrayList<>();
        for (int i = 0; i < order.size(); i++) {
            for (String other : order.subList(0, i)) {
                if (names(order.get(i), other)) {
                    up.add(order.get(i) + " -> " + other);
                }
            }
        }
        return up;
    }

    private boolean names(String file, String other) {
        return arrows.getOrDefault(file, Set.of()).contains(other);
    }
}
