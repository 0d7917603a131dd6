package dev.holdfast.build;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ModifiersTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.TreePathScanner;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.lang.model.element.Modifier;
import org.junit.jupiter.api.Test;

/** Everything public has a comment; whether the comment is sound, the javadoc tool says. */
class JavadocTest {
    @Test
    void everythingPublicIsExplained() {
        for (Module module : House.get().modules()) {
            boolean published = !Set.of("cli", "bench", "challenge").contains(module.name());
            if (published) {
                assertThat(Source.parse(module.sources()).stream()
                                .filter(source -> !source.packageName().endsWith(".internal"))
                                .flatMap(source -> unexplained(source).stream()))
                        .as("public and without Javadoc in " + module)
                        .isEmpty();
            }
        }
    }

    @Test
    void theRuleSeesTypesMethodsAndMembersOfInterfaces() {
        assertThat(unexplained(Source.parse("public class A { public void a() {} void b() {} private A() {} }")))
                .hasSize(2);
        assertThat(unexplained(Source.parse("/** A. */ public interface A { void a(); /** B. */ void b(); }")))
                .hasSize(1);
        assertThat(unexplained(Source.parse("class A { public void a() {} }"))).isEmpty();
    }

    private static List<String> unexplained(Source source) {
        List<String> found = new ArrayList<>();
        new TreePathScanner<Void, Boolean>() {
            @Override
            public Void visitClass(ClassTree node, Boolean visible) {
                boolean shown = visible && isShown(node.getModifiers());
                check(node, shown);
                for (Tree member : node.getMembers()) {
                    scan(member, shown);
                }
                return null;
            }

            @Override
            public Void visitMethod(MethodTree node, Boolean visible) {
                boolean overrides = node.getModifiers().getAnnotations().stream()
                        .anyMatch(annotation ->
                                annotation.getAnnotationType().toString().equals("Override"));
                boolean compact = node.getReturnType() == null && isInRecord();
                check(node, visible && !overrides && !compact && isShown(node.getModifiers()));
                return null; // what is inside a method nobody sees
            }

            private boolean isShown(ModifiersTree modifiers) {
                return modifiers.getFlags().contains(Modifier.PUBLIC)
                        || modifiers.getFlags().contains(Modifier.PROTECTED)
                        || isInInterface();
            }

            private boolean isInInterface() {
                return isIn(Tree.Kind.INTERFACE, Tree.Kind.ANNOTATION_TYPE);
            }

            private boolean isInRecord() {
                return isIn(Tree.Kind.RECORD);
            }

            private boolean isIn(Tree.Kind... kinds) {
                Tree parent = getCurrentPath().getParentPath().getLeaf();
                return List.of(kinds).contains(parent.getKind());
            }

            private void check(Tree node, boolean shown) {
                if (shown && source.docs().getDocComment(getCurrentPath()) == null) {
                    found.add(source.place(node));
                }
            }
        }.scan(source.tree(), true);
        return found;
    }
}
