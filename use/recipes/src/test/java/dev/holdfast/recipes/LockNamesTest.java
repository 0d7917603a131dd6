package dev.holdfast.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A recipe's name and a key make one lock's name, which no other two make. */
class LockNamesTest {
    @Test
    void aNameWithoutASlashIsReadAsItIs() {
        assertThat(LockNames.of("price", "42")).isEqualTo("price/42");
        assertThat(LockNames.of("price", "eu/42")).isEqualTo("price/eu/42");
        assertThat(LockNames.of("price/eu", "42")).isEqualTo("price\\/eu/42");
    }

    @Test
    void noTwoPairsMakeTheSameName() {
        List<String> texts = new ArrayList<>(List.of(""));
        for (int i = 0; texts.get(i).length() < 4; i++) {
            for (String more : new String[] {"a", "/", "\\"}) {
                texts.add(texts.get(i) + more);
            }
        }
        Set<String> names = new HashSet<>();
        for (String name : texts) {
            for (String key : texts) {
                assertThat(names.add(LockNames.of(name, key)))
                        .as("'%s' and '%s'", name, key)
                        .isTrue();
            }
        }
    }
}
