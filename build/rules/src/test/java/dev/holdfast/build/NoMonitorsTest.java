package dev.holdfast.build;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.ModifiersTree;
import com.sun.source.tree.SynchronizedTree;
import com.sun.source.util.TreeScanner;
import java.util.ArrayList;
import java.util.List;
import javax.lang.model.element.Modifier;
import org.junit.jupiter.api.Test;

/** No {@code synchronized} in core and stores: a virtual thread that waits in one keeps its carrier. */
class NoMonitorsTest {
    @Test
    void coreAndStoresHaveNone() {
        for (Module module : House.get().engineAndStores()) {
            assertThat(Source.parse(module.sources()).stream().flatMap(source -> monitors(source).stream()))
                    .as("synchronized in " + module)
                    .isEmpty();
        }
    }

    @Test
    void theRuleSeesMethodsAndBlocks() {
        assertThat(monitors(Source.parse("class A { synchronized void a() {} }")))
                .hasSize(1);
        assertThat(monitors(Source.parse("class A { Runnable r = () -> { synchronized (this) { } }; }")))
                .hasSize(1);
        assertThat(monitors(
                        Source.parse("class A { /* synchronized */ String s = \"synchronized\"; // synchronized\n}")))
                .isEmpty();
    }

    private static List<String> monitors(Source source) {
        List<String> found = new ArrayList<>();
        new TreeScanner<Void, Void>() {
            @Override
            public Void visitSynchronized(SynchronizedTree node, Void nothing) {
                found.add(source.place(node));
                return super.visitSynchronized(node, null);
            }

            @Override
            public Void visitModifiers(ModifiersTree node, Void nothing) {
                if (node.getFlags().contains(Modifier.SYNCHRONIZED)) {
                    found.add(source.place(node));
                }
                return super.visitModifiers(node, null);
            }
        }.scan(source.tree(), null);
        return found;
    }
}
