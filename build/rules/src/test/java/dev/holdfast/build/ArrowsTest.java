package dev.holdfast.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.tngtech.archunit.core.domain.JavaClass;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Who may depend on whom. An arrow that is not drawn here does not exist. */
class ArrowsTest {
    /** The packages that may look into the engine; everybody else, stores too, sees the API and the SPI. */
    private static final Set<String> MAY_SEE_INTERNAL =
            Set.of("dev.holdfast", "dev.holdfast.memory", "dev.holdfast.internal");

    private final House house = House.get();

    /** What the main code of a module may use of the other modules. */
    private static boolean mayUse(Module from, Module to) {
        return switch (from.name()) {
            case "core" -> false;
            case "testbed" -> false;
            case "tck" -> isOneOf(to, "core", "testbed");
            case "recipes", "ladder", "testkit", "micrometer" -> isOneOf(to, "core");
            case "cli" -> isOneOf(to, "core", "recipes") || to.isStore();
            case "flashsale" -> isOneOf(to, "core", "recipes", "spring", "ladder", "testbed") || to.isStore();
            case "spring" -> isOneOf(to, "core", "micrometer") || to.isStore();
            case "bench" -> isOneOf(to, "core", "recipes", "testbed") || to.isStore();
            // the bench has the other libraries' locks, the ladder the wrong ones, and the kit judges histories
            case "challenge" -> isOneOf(to, "core", "testbed", "tck", "ladder", "bench") || to.isStore();
            default -> {
                if (from.isStore()) {
                    yield isOneOf(to, "core");
                }
                throw new AssertionError("no arrows are drawn for the new module " + from + ": draw them here");
            }
        };
    }

    /** What the tests of a module may use besides. */
    private static boolean testsMayUse(Module from, Module to) {
        return mayUse(from, to)
                || (!from.name().equals("core") && isOneOf(to, "testbed", "tck"))
                || (List.of("recipes", "ladder").contains(from.name()) && to.isStore())
                || (List.of("micrometer", "spring").contains(from.name()) && isOneOf(to, "testkit"));
    }

    private static boolean isOneOf(Module module, String... names) {
        return List.of(names).contains(module.name());
    }

    @TestFactory
    Stream<DynamicTest> mainCodeUsesOnlyWhatItMay() {
        return house.modules().stream()
                .map(from -> dynamicTest(
                        from.name(), () -> assertThat(strangeUses(from)).isEmpty()));
    }

    private List<String> strangeUses(Module from) {
        List<String> strange = new ArrayList<>();
        for (JavaClass type : house.classesOf(from)) {
            type.getDirectDependenciesFromSelf()
                    .forEach(use -> house.homeOf(use.getTargetClass())
                            .filter(to -> !to.equals(from) && !mayUse(from, to))
                            .ifPresent(to -> strange.add(from + " -> " + to + ": " + use.getDescription())));
        }
        return strange;
    }

    @TestFactory
    Stream<DynamicTest> pomsDrawNoOtherArrows() {
        return house.modules().stream()
                .map(from -> dynamicTest(from.name(), () -> {
                    for (var dependency : house.dependencies(from)) {
                        Predicate<Module> allowed =
                                House.child(dependency, "scope").equals(java.util.Optional.of("test"))
                                        ? to -> testsMayUse(from, to)
                                        : to -> mayUse(from, to);
                        House.child(dependency, "artifactId")
                                .flatMap(house::moduleOfArtifact)
                                .ifPresent(to ->
                                        assertThat(to).as(from + "/pom.xml").matches(allowed, "is allowed"));
                    }
                }));
    }

    @Test
    void coreNeedsTheJdkAlone() {
        Module core = house.modules().get(0);
        assertThat(core.name()).isEqualTo("core");
        List<String> strange = new ArrayList<>();
        for (JavaClass type : house.classesOf(core)) {
            type.getDirectDependenciesFromSelf().stream()
                    .filter(use -> !isOfTheJdk(use.getTargetClass())
                            && house.homeOf(use.getTargetClass()).isEmpty())
                    .forEach(use -> strange.add(use.getDescription()));
        }
        assertThat(strange).isEmpty();
    }

    /** The JDK, and the null annotations that are not needed when the program runs. */
    private static boolean isOfTheJdk(JavaClass type) {
        JavaClass plain = type.getBaseComponentType();
        return plain.isPrimitive()
                || plain.getPackageName().startsWith("java.")
                || plain.getPackageName().startsWith("jdk.jfr")
                || plain.getPackageName().equals("org.jspecify.annotations");
    }

    @Test
    void nobodyElseSeesTheEngine() {
        List<String> strange = new ArrayList<>();
        for (Module module : house.modules()) {
            for (JavaClass type : house.classesOf(module)) {
                type.getDirectDependenciesFromSelf().stream()
                        .filter(use -> use.getTargetClass()
                                .getBaseComponentType()
                                .getPackageName()
                                .startsWith("dev.holdfast.internal"))
                        .filter(use -> !MAY_SEE_INTERNAL.contains(type.getPackageName()))
                        .forEach(use -> strange.add(use.getDescription()));
            }
        }
        assertThat(strange).isEmpty();
    }

    /** Guards the rules against passing over nothing: what is written must have been compiled and read. */
    @TestFactory
    Stream<DynamicTest> everyWrittenModuleWasRead() {
        return house.modules().stream()
                .map(module -> dynamicTest(
                        module.name(),
                        () -> assertThat(house.classesOf(module).size())
                                .as("classes read from " + module.classes())
                                .isGreaterThanOrEqualTo(module.sources().size())));
    }

    @Test
    void coreIsWritten() {
        assertThat(house.modules().get(0).sources()).hasSizeGreaterThan(10);
    }
}
