package dev.holdfast.build;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What others can see, and that they cannot extend what was not made for it. */
class PublicTypesTest {
    /**
     * The public types of packages named {@code internal}: what {@code dev.holdfast} itself builds on. They are not
     * exported. Every name here is a door left open on purpose; keep it short.
     */
    private static final Set<String> PUBLIC_INTERNALS = Set.of(
            "dev.holdfast.internal.Acquisition",
            "dev.holdfast.internal.Durations",
            "dev.holdfast.internal.Engine",
            "dev.holdfast.internal.HoldHandle",
            "dev.holdfast.internal.LockName",
            "dev.holdfast.internal.Log",
            "dev.holdfast.internal.MultiAcquisition",
            "dev.holdfast.internal.Names",
            "dev.holdfast.internal.Inspection",
            "dev.holdfast.internal.StackRoom",
            "dev.holdfast.internal.StoreOpening",
            "dev.holdfast.internal.SystemTime");

    private final House house = House.get();

    @Test
    void publicTypesAreClosed() {
        assertThat(publicTypes().filter(type -> !isInternal(type)).filter(type -> !isClosed(type.reflect())))
                .as("public types that are neither final, sealed, enum, record, interface, annotation nor exception")
                .isEmpty();
    }

    @Test
    void internalTypesArePublicOnlyByDecision() {
        Set<String> found = publicTypes()
                .filter(PublicTypesTest::isInternal)
                .map(JavaClass::getName)
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(found).as("public types in internal packages").hasSameElementsAs(PUBLIC_INTERNALS);
    }

    @Test
    void anOpenClassWouldBeSeen() {
        assertThat(isClosed(Open.class)).isFalse();
        assertThat(isClosed(Module.class)).isTrue();
        assertThat(isClosed(IllegalStateException.class)).isTrue();
    }

    private Stream<JavaClass> publicTypes() {
        return house.engineAndStores().stream()
                .flatMap(module -> house.classesOf(module).stream())
                .filter(JavaClass::isTopLevelClass)
                .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC));
    }

    private static boolean isInternal(JavaClass type) {
        return Set.of(type.getPackageName().split("\\.")).contains("internal");
    }

    private static boolean isClosed(Class<?> type) {
        return java.lang.reflect.Modifier.isFinal(type.getModifiers())
                || type.isInterface()
                || type.isEnum()
                || type.isSealed()
                || Throwable.class.isAssignableFrom(type);
    }

    static class Open {}
}
